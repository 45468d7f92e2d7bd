import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serviceNames, type ServiceName } from '@flotilla/contracts/services';
import type { RunId } from '@flotilla/contracts/ids';
import { scratchGit } from '@flotilla/dev/demo/scratch-remote';
import { keepFleetSecrets } from '@flotilla/dev/fleet/fleet-secrets';
import { installationLabel } from '@flotilla/sandbox/slot-labels';
import { startOtlpReceiver, type OtlpReceiver, type ReceivedSpan } from '@flotilla/testing/otlp-receiver';
import type { Conversation } from '@flotilla/testing/scripted-model/conversation';
import { engineerScript } from '@flotilla/testing/scripted-model/engineer-script';
import { fault, type Script } from '@flotilla/testing/scripted-model/script';
import Dockerode from 'dockerode';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { calculator, holdPushes, makeSmallRemote } from './harness/small-remote.ts';
import { describe as describeEntries, payloadOf, startTestFleet, type TestFleet } from './harness/test-fleet.ts';
import { waitUntil } from './harness/wait-until.ts';

let fleet: TestFleet;
let telemetry: OtlpReceiver;
let directory: string;

/** Roles whose model falls silent at the first chance from now on, and those where it did. */
const toSilence = new Set<string>();
const silenced = new Set<string>();
const engineer = engineerScript({ edits: [calculator.edit] });

/** Falls silent once a role has done something, so that its service can be ended in the middle of a step. */
const script: Script = (conversation, asked) => {
  const { role } = conversation;
  if (role !== undefined && toSilence.has(role) && asked === 1 && hasBegun(conversation)) {
    toSilence.delete(role);
    silenced.add(role);
    return fault('silent');
  }
  return engineer(conversation, asked);
};

function hasBegun(conversation: Conversation): boolean {
  return conversation.role === 'executor' ? JSON.stringify(conversation).includes(calculator.edit.replace) : true;
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'flotilla-processes-'));
  telemetry = await startOtlpReceiver();
  fleet = await startTestFleet({ script, allInOne: false, settings: { OTEL_EXPORTER_OTLP_ENDPOINT: telemetry.url } });
});

afterAll(async () => {
  await fleet.close();
  await telemetry.close();
  await rm(directory, { recursive: true, force: true });
});

test('a calm run is one trace: one root, no orphan, every hop present', async () => {
  const remote = await makeSmallRemote(directory, 'calm', calculator.files);
  await fleet.addProject('calm', remote);
  const run = await fleet.submit('calm', calculator.goal);
  const log = await fleet.finish(run);
  expect(payloadOf<{ result: string }>(log, 'run.ended').result, describeEntries(log)).toBe('landed');

  const { traceId } = await fleet.client.call('showRun', { runId: run });
  const spansOfRun = (): readonly ReceivedSpan[] => telemetry.spans.filter((span) => span.traceId === traceId);
  const parentsKnown = (): boolean => {
    const ids = new Set(spansOfRun().map(({ spanId }) => spanId));
    return spansOfRun().every(({ parentSpanId }) => parentSpanId === '' || ids.has(parentSpanId));
  };
  const services = (): ReadonlySet<string> => new Set(spansOfRun().map(({ service }) => service));
  await waitUntil('every span has arrived', () => serviceNames.every((name) => services().has(name)) && parentsKnown());

  expect(spansOfRun().filter(({ parentSpanId }) => parentSpanId === '')).toHaveLength(1);
  const names = spansOfRun().map(({ name }) => name);
  for (const hop of [/^chat /, /^execute_tool /, /^git\b/, /^landing/])
    expect(
      names.filter((name) => hop.test(name)),
      String(hop),
    ).not.toEqual([]);
  for (const operation of ['send', 'process']) {
    expect(
      spansOfRun().map(
        ({ attributes }) => attributes['messaging.operation.type'] ?? attributes['messaging.operation.name'],
      ),
      operation,
    ).toContain(operation);
  }
  for (const [wanted, label, value] of keyMetrics) {
    await waitUntil(`${wanted} of ${value} arrives`, () =>
      telemetry.metrics.some(({ name, attributes }) => name === wanted && attributes[label] === value),
    );
  }
  expect(telemetry.metrics.map(({ name }) => name)).toContain('flotilla.gates.waiting');
});

/** The key numbers of a fleet, by a label that tells what each counts. */
const keyMetrics = [
  ['flotilla.deliveries', 'settlement', 'acknowledged'],
  ['flotilla.queue.wait', 'stage', 'BuildStepRequested'],
  ['flotilla.step.duration', 'verb', 'build'],
  ['flotilla.steps', 'verb', 'land'],
  ['flotilla.call.duration', 'call', 'decideGate'],
  ['gen_ai.client.operation.duration', 'gen_ai.operation.name', 'chat'],
  ['gen_ai.client.token.usage', 'gen_ai.token.type', 'output'],
] as const;

test('each service is ended by kill -9 in the middle of its step; the run lands once and every step goes on from its journal', async () => {
  const remote = await makeSmallRemote(directory, 'crashes', calculator.files);
  await holdPushes(remote);
  await fleet.addProject('crashes', remote);
  for (const role of ['planner', 'executor', 'reviewer', 'scribe']) toSilence.add(role);
  const run = await fleet.submit('crashes', calculator.goal);
  const finished = fleet.finish(run);

  await crashWhen('planner', () => silenced.has('planner'));
  await crash('router');
  await crash('gateway');
  await crashWhen('executor', () => silenced.has('executor'));
  await crashWhen('reviewer', () => silenced.has('reviewer'));
  await crashWhen('merger', () => existsSync(join(remote, 'waiting')));
  await writeFile(join(remote, 'go'), '');
  await crashWhen('scribe', () => silenced.has('scribe'));
  const log = await finished;

  expect(payloadOf<{ result: string }>(log, 'run.ended').result, describeEntries(log)).toBe('landed');
  expect(log.map(({ sequence }) => sequence)).toEqual(log.map((_, index) => index + 1));
  expect(await scratchGit(remote, ['rev-list', '--count', 'main'])).toBe('2');
  expectNothingTwice(log);
  expect(await slotsLeft(run)).toEqual([]);
});

/** The last one: the fleet has stopped then. */
test('a fleet that stops as soon as services were ended by kill -9 leaves no sandbox', async () => {
  const { dataDirectory } = fleet.fleet;
  const { installation } = await keepFleetSecrets(dataDirectory);
  const containers = () =>
    new Dockerode().listContainers({ all: true, filters: { label: [`${installationLabel}=${installation}`] } });
  await waitUntil(
    'planner, executor and reviewer each have a slot ready',
    async () => (await containers()).length >= 3,
  );
  await crash('planner');
  await fleet.fleet.services.processes.get('executor')!.kill();
  await fleet.fleet.stop();
  expect((await containers()).map(({ Names }) => Names)).toEqual([]);
  expect(await readdir(join(dataDirectory, 'slots/slots'))).toEqual([]);
});

/** No tool call was carried out twice, and each agent step began its turns once. */
function expectNothingTwice(log: Awaited<ReturnType<TestFleet['finish']>>): void {
  for (const type of ['tool.started', 'agent.turn'] as const) {
    const occasions = log
      .filter((entry) => entry.type === type)
      .map(({ stepId, attempt, payload }) => {
        const { callId, turn } = payload as { readonly callId?: string; readonly turn?: number };
        return `${stepId}/${attempt}/${callId ?? turn}`;
      });
    expect(new Set(occasions).size, type).toBe(occasions.length);
  }
}

async function crashWhen(service: ServiceName, moment: () => boolean): Promise<void> {
  await waitUntil(`the ${service} is in the middle of its step`, moment);
  await crash(service);
}

async function crash(service: ServiceName): Promise<void> {
  const process = fleet.fleet.services.processes.get(service)!;
  await process.kill();
  process.start();
}

async function slotsLeft(run: RunId): Promise<readonly string[]> {
  const containers = await new Dockerode().listContainers({ all: true });
  return containers.filter(({ Labels }) => Object.values(Labels).includes(run)).map(({ Id }) => Id);
}
