import { randomUUID } from 'node:crypto';
import type { Resources } from '@flotilla/host/service-definition';
import { startServices } from '@flotilla/host/start-services';
import { answerParent } from './child.ts';
import { heldStep, noOpServices, topology } from './contestants/no-op-services.ts';
import { SubmitTask } from '@flotilla/contracts/calls/submit-task';
import { request } from '@flotilla/stream/calls';

/** Where a step was seen to be worked on, in milliseconds of the epoch. */
export interface StepSeen {
  readonly runId: string;
  readonly at: number;
}

let services: Awaited<ReturnType<typeof startServices>> | undefined;
const found: Resources[] = [];

answerParent(
  async (question) => {
    if (services === undefined) return startFleet(question as Readonly<Record<string, string>>);
    if ('runId' in question) return heldStep.seen((question as StepSeen).runId);
    return heldStep.seen(await submit());
  },
  async () => services?.close(),
);

async function startFleet(environment: Readonly<Record<string, string>>): Promise<object> {
  services = await startServices(
    noOpServices((resources) => found.push(resources)),
    { environment },
  );
  await found[0]?.store.query(
    `insert into router.project (name, definition, created_at) values ('bench', $1, now()) on conflict (name) do nothing`,
    [JSON.stringify({ name: 'bench', remote: '/srv/bench.git', topology, checks: [], setup: [] })],
  );
  return {};
}

async function submit(): Promise<string> {
  const broker = found[0]?.broker;
  if (broker === undefined) throw new Error('no service was started');
  const task = { goal: `${heldStep.goal} ${randomUUID()}`, project: 'bench', topology } as never; // its fields are the call's
  return (await request(broker, SubmitTask, task)).runId;
}
