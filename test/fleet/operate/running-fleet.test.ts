import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serviceNames, type ServiceName } from '@flotilla/contracts/services';
import { ensureDockerEngine } from '@flotilla/dev/docker-engine';
import { silentReport } from '@flotilla/dev/report';
import { engineerScript } from '@flotilla/testing/scripted-model/engineer-script';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkCampaign } from '../../chaos/check/check-campaign.ts';
import { collectFacts, countUnsettled } from '../../chaos/collect-facts.ts';
import { driveWorkload } from '../../chaos/drive-workload.ts';
import { createRandom } from '../../chaos/random.ts';
import { makeRemotes, type PlannedTask, projectNames, type Workload } from '../../chaos/workload.ts';
import { startFaultyProxy, type FaultyProxy } from '../../chaos/world/faulty-proxy.ts';
import { startOwnServers, type OwnServers } from '../harness/own-servers.ts';
import { describe as describeEntries, payloadOf, startTestFleet, type TestFleet } from '../harness/test-fleet.ts';
import { calculator, makeSmallRemote } from '../harness/small-remote.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { standStill } from './stand-still.ts';

let directory: string;
let servers: OwnServers;
let docker: FaultyProxy;
let fleet: TestFleet;
const runsInFlight = 10;
const tasks = Array.from({ length: runsInFlight }, (_, index) => planTask(index + 1));

function planTask(number: number): PlannedTask {
  const edits = [{ path: `part-${number}.js`, find: 'exports.value = 0;', replace: `exports.value = ${number};` }];
  const project = projectNames[number % projectNames.length]!;
  const goal = `Number ${number} of those that go on.`;
  return {
    externalKey: `task-${number}`,
    project,
    goal,
    intention: 'approve',
    through: 'queue',
    times: 1,
    task: { edits },
  };
}

const engineer = engineerScript({
  edits: [calculator.edit],
  tasks: tasks.map(({ goal, task }) => ({ ...task, goalIncludes: goal })),
});

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'flotilla-running-'));
  servers = await startOwnServers(join(directory, 'servers'));
  const engine = await ensureDockerEngine({
    environment: process.env,
    report: silentReport,
    signal: new AbortController().signal,
  });
  docker = await startFaultyProxy({ path: new URL(engine.at).pathname });
  fleet = await startTestFleet({
    script: engineer,
    allInOne: false,
    servers: servers.addresses,
    settings: { DOCKER_HOST: `tcp://127.0.0.1:${docker.port}` },
  });
});

afterAll(async () => {
  await fleet?.close();
  await docker?.close();
  await servers?.stop();
  await rm(directory, { recursive: true, force: true });
});

interface Answer {
  readonly status: number;
  readonly checks: Readonly<Record<string, boolean>>;
}

async function ask(service: ServiceName, path: 'health' | 'ready'): Promise<Answer> {
  const port = (await readFile(join(fleet.fleet.dataDirectory, `${service}.port`), 'utf8')).trim();
  const response = await fetch(`http://127.0.0.1:${port}/${path}`);
  return { status: response.status, checks: ((await response.json()) as Partial<Answer>).checks ?? {} };
}

const falseOnes = ({ checks }: Answer): readonly string[] =>
  Object.keys(checks).filter((name) => checks[name] === false);

test('a calm run logs two lines a delivery, one a move and one an answer, and no warning', async () => {
  await fleet.addProject('calm', await makeSmallRemote(directory, 'calm', calculator.files));
  const before = fleet.logLines.length;
  const run = await fleet.submit('calm', calculator.goal);
  const log = await fleet.finish(run);
  expect(payloadOf<{ result: string }>(log, 'run.ended').result, describeEntries(log)).toBe('landed');
  const deliveries = 2 * log.filter(({ type }) => type === 'step.completed').length;
  const read = () =>
    fleet.logLines.slice(before).map((line) => JSON.parse(line) as { readonly event: string; readonly level: string });
  const count = (event: string): number => read().filter((line) => line.event === event).length;
  await waitUntil('the last delivery is settled', () => count('delivery_settled') >= deliveries);
  const lines = read();
  expect(count('delivery_started')).toBe(deliveries);
  expect(count('delivery_settled')).toBe(deliveries);
  expect(count('run_moved')).toBeLessThanOrEqual(deliveries);
  const answers = count('call_answered') + count('http_answered');
  expect(lines.length - answers - count('run_moved')).toBe(2 * deliveries);
  if (process.env['FLOTILLA_TELL'] !== undefined)
    console.log('lines of a calm run', lines.length, { deliveries, answers });
  expect(lines.filter(({ level }) => level !== 'info')).toEqual([]);
});

const all = serviceNames;
const outages: readonly (readonly [string, readonly ServiceName[], () => Promise<() => void>])[] = [
  ['nats', all, () => standStill(join(directory, 'servers/nats.pid'))],
  ['postgres', all, () => standStill(join(directory, 'servers/postgres.pid'))],
  ['redis', ['merger'], () => standStill(join(directory, 'servers/redis.pid'))],
  ['docker', ['planner', 'executor', 'reviewer'], () => Promise.resolve((docker.refuse(), () => docker.heal()))],
];

test('while a server is away, whoever needs it is not ready and names it, the others are, all are alive, and it passes by itself', async () => {
  for (const [check, needing, takeAway] of outages) {
    const giveBack = await takeAway();
    try {
      for (const service of needing) {
        const missed = async (): Promise<boolean> => falseOnes(await ask(service, 'ready')).includes(check);
        await waitUntil(`${service} misses ${check}`, missed, 30_000);
        const answer = await ask(service, 'ready');
        expect([answer.status, falseOnes(answer).filter((name) => name !== 'stages')], service).toEqual([503, [check]]);
      }
      for (const service of all) {
        expect((await ask(service, 'health')).status, service).toBe(200);
        if (!needing.includes(service)) expect((await ask(service, 'ready')).status, service).toBe(200);
      }
    } finally {
      giveBack();
    }
    for (const service of all)
      await waitUntil(
        `${service} has ${check} again`,
        async () => (await ask(service, 'ready')).status === 200,
        60_000,
      );
  }
});

test('every service is restarted in turn, twice, while runs are under way: none fails, nothing is done twice, nothing is left', async () => {
  const workload: Workload = { tasks, script: engineer };
  const remotesDirectory = join(directory, 'remotes');
  await makeRemotes(remotesDirectory, workload);
  const { DATABASE_URL: postgres, NATS_URL: nats, REDIS_URL: redis } = servers.addresses;
  const world = { urls: { postgres, nats, redis }, remotesDirectory };
  const over = new AbortController();
  const driving = driveWorkload({
    client: fleet.client,
    brokerUrl: nats,
    workload,
    remoteOf: (project) => join(remotesDirectory, `${project}.git`),
    random: createRandom(1),
    signal: over.signal,
  }).catch((error: unknown) => over.signal.aborted || Promise.reject(error as Error));
  const underWay = async (): Promise<number> =>
    (await fleet.client.call('listRuns', { limit: 200 })).runs.filter(({ state }) => state !== 'ended').length;
  await waitUntil('runs are under way', async () => (await underWay()) >= runsInFlight / 2);

  const drains: Record<string, readonly number[]> = {};
  for (let round = 0; round < 2; round++) {
    for (const name of serviceNames) {
      const service = fleet.fleet.services.processes.get(name)!;
      const began = performance.now();
      await service.stop();
      drains[name] = [...(drains[name] ?? []), Math.round(performance.now() - began)];
      service.start();
      await waitUntil(`${name} is ready again`, () =>
        ask(name, 'ready').then(
          ({ status }) => status === 200,
          () => false,
        ),
      );
    }
    if (round === 0) expect(await underWay(), 'runs are under way after the first round').toBeGreaterThan(0);
  }
  await waitUntil(
    'all is quiet',
    async () => (await countUnsettled(world, new Set(['calm', ...tasks.map(({ externalKey }) => externalKey)]))) === 0,
  );
  over.abort();
  await driving;
  if (process.env['FLOTILLA_TELL'] !== undefined) console.log('drained in ms', drains);
  const facts = await collectFacts(world, workload);
  const planned = new Set(tasks.map(({ externalKey }) => externalKey));
  const runs = facts.runs.filter(({ externalKey }) => planned.has(externalKey));
  expect(checkCampaign({ ...facts, runs })).toEqual([]);
  expect(runs.map(({ result }) => result)).toEqual(tasks.map(() => 'landed'));
  // Eight seconds for what is under way, and some for closing.
  expect(Math.max(...Object.values(drains).flat())).toBeLessThan(12_000);
});
