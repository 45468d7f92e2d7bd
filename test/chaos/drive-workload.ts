import { setTimeout as delay } from 'node:timers/promises';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { jetstream } from '@nats-io/jetstream';
import { TaskSubmitted } from '@flotilla/contracts/messages/task-submitted';
import { errors } from '@flotilla/errors/catalogue';
import { FleetClient, ProblemError } from '../fleet/harness/fleet-client.ts';
import type { Random } from './random.ts';
import { projectNames, type PlannedTask, type Workload } from './workload.ts';

export interface DriveOptions {
  readonly client: FleetClient;
  /** Past the faults: a publisher of tasks is not what is tried here, and retries until it is acknowledged. */
  readonly brokerUrl: string;
  readonly workload: Workload;
  readonly remoteOf: (project: string) => string;
  readonly random: Random;
  /** Ends the driving: nothing more is submitted or decided. */
  readonly signal: AbortSignal;
}

const pauseMs = 150;

/** Adds the projects, publishes the tasks over time and decides as people planned to, each again until it was taken. */
export async function driveWorkload(options: DriveOptions): Promise<void> {
  const { client, remoteOf, workload, signal } = options;
  for (const name of projectNames)
    await insist(signal, () => client.call('addProject', { name, remote: remoteOf(name) }));
  const deciding = decideAsPlanned(options);
  const broker = await connect(brokerOptions(options.brokerUrl));
  try {
    for (const task of workload.tasks) {
      for (let time = 0; time < task.times; time++) await submit(task, options, broker);
      await delay(options.random.between(0, 1_500), undefined, { signal });
    }
  } finally {
    await broker.close();
  }
  await deciding;
}

async function submit(
  { externalKey, project, goal, through }: PlannedTask,
  { client, signal }: DriveOptions,
  broker: NatsConnection,
): Promise<void> {
  const task = { externalKey, project, goal };
  if (through === 'http') await insist(signal, () => client.call('submitTask', task));
  else await insist(signal, () => jetstream(broker).publish(TaskSubmitted.subject, JSON.stringify(task)));
}

/** Until it is told to stop: whatever waits at a gate gets the answer that was planned for it, and some get it twice. */
async function decideAsPlanned(options: DriveOptions): Promise<void> {
  const { client, workload, random, signal } = options;
  const sentBack = new Set<string>();
  const cancelled = new Set<string>();
  while (!signal.aborted) {
    const { runs } = await insist(signal, () => client.call('listRuns', { limit: 200 }));
    for (const { runId, goal, state } of runs) {
      const intention = workload.tasks.find((task) => task.goal === goal)?.intention;
      if (state === 'ended' || intention !== 'cancel' || cancelled.has(runId)) continue;
      cancelled.add(runId);
      await settle(signal, () => client.call('cancelRun', { runId }));
    }
    const { gates } = await insist(signal, () => client.call('listGates', { state: 'open' }));
    for (const { gateId, runId, goal, change } of gates) {
      const intention = workload.tasks.find((task) => task.goal === goal)?.intention ?? 'approve';
      const { commit } = change;
      const decide = (): Promise<unknown> => {
        if (intention === 'decline') return client.call('decideGate', { gateId, commit, decision: 'decline' });
        if (intention === 'send_back' && !sentBack.has(runId))
          return client.call('decideGate', { gateId, commit, decision: 'request_changes', comment: 'Once more.' });
        return client.call('decideGate', { gateId, commit, decision: 'approve' });
      };
      const answers = random.chance(30) ? [decide(), decide()] : [decide()];
      const taken = await Promise.allSettled(answers);
      if (taken.some(({ status }) => status === 'fulfilled')) sentBack.add(runId);
    }
    await delay(pauseMs, undefined, { signal }).catch(() => undefined);
  }
}

/** What a fault is to blame for, whatever its status says: a project is added only once its remote answers. */
const ofFaults: readonly string[] = [errors.remoteUnreachable.code];

/** Tries again whatever does not go through; any other refusal is an answer, and the campaign's mistake. */
async function insist<Value>(signal: AbortSignal, work: () => Promise<Value>): Promise<Value> {
  for (;;) {
    signal.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      if (isRefusal(error)) throw error;
      await delay(pauseMs, undefined, { signal });
    }
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof ProblemError && error.status < 500 && error.status !== 429 && !ofFaults.includes(error.code);
}

/** As `insist`, where a refusal is as good: it ended in the meantime. */
async function settle(signal: AbortSignal, work: () => Promise<unknown>): Promise<void> {
  await insist(signal, work).catch((error: unknown) => {
    if (!(error instanceof ProblemError)) throw error;
  });
}

function brokerOptions(url: string): {
  servers: string;
  user: string;
  pass: string;
  reconnect: true;
  maxReconnectAttempts: -1;
} {
  const { host, username, password } = new URL(url);
  return { servers: host, user: username, pass: password, reconnect: true, maxReconnectAttempts: -1 };
}
