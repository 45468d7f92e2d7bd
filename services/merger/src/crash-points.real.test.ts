import { openCrashWorld, type CrashWorld, type MessageLife } from '@flotilla/host/crash-world.fixture';
import { LandStepRequested } from '@flotilla/contracts/messages/land-step-requested';
import { OpenStepRequested } from '@flotilla/contracts/messages/open-step-requested';
import { createGit, type RunGit } from '@flotilla/git/run-git';
import { MemoryStepContext } from '@flotilla/testing/memory-step-context';
import type { MortalProcess } from '@flotilla/testing/crash-points/mortal-process';
import { leavesTrace, tryEveryPoint } from '@flotilla/testing/crash-points/try-every-point';
import { startRedis, type RedisServer } from '@flotilla/testing/servers/start-redis';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { RemoteRepositories } from './git/remote-repositories.ts';
import { LandingScene, passed } from './land-change.fixture.ts';
import { RedisMergeLease } from './lease/redis-merge-lease.ts';
import { mergerStages } from './merger.stages.ts';
import { OpenRepositoryHandler } from './open-repository.handler.ts';

let world: CrashWorld;
let redis: RedisServer;
let leases: Redis;
let scene: LandingScene;
const opened: RedisMergeLease[] = [];

beforeAll(async () => {
  [world, redis] = await Promise.all([openCrashWorld(), startRedis()]);
  leases = new Redis(redis.url);
});
beforeEach(() => {
  scene = new LandingScene();
});
afterEach(() => {
  for (const lease of opened.splice(0)) lease.close();
  scene.remove();
});
afterAll(async () => {
  leases.disconnect();
  await Promise.all([world.close(), redis.close()]);
});

const [openStage, landStage] = mergerStages;
const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();

/** Dying after a command that only reads is dying after the one before it. */
function gitOf(mortal: MortalProcess): RunGit {
  const git = createGit();
  const port = mortal.wrap(
    'git',
    Object.fromEntries(['fetch', 'index-pack', 'commit-tree', 'update-ref', 'push'].map((command) => [command, git])),
  );
  return async (call) => {
    const counted = port[call.args[0] ?? ''];
    if (mortal.dead) await new Promise(() => undefined);
    return counted === undefined ? git(call) : counted(call);
  };
}

/** A new merger, on the host where the last one died. */
function mergerOf(mortal: MortalProcess) {
  scene.unlockMirrors();
  const lease = new RedisMergeLease({ url: redis.url });
  opened.push(lease);
  const bundles = mortal.wrap('bundles', scene.bundles);
  return { git: gitOf(mortal), bundles, lease: mortal.wrap('lease', lease, { reads: ['close'] }) };
}

/** The end of a step, with all that it left outside: the branch, the bucket, and leases, of which there are none. */
async function end() {
  return {
    ...(await world.endState()),
    refs: scene.remote.git('for-each-ref', '--format=%(refname) %(objectname)').split('\n'),
    bundles: [...scene.bundles.names.keys()].sort(),
    held: await leases.keys('*'),
  };
}

type Prepare = () => Promise<LandStepRequested>;

/** A request whose candidate has passed: the next landing pushes a merge. */
async function verified(): Promise<LandStepRequested> {
  const request = scene.request(scene.change({ 'a.txt': 'two\n' }));
  scene.remote.advance({ 'b.txt': 'two\n' });
  const { outcome } = await scene.merger().work(request, new MemoryStepContext());
  if (outcome.kind !== 'unverified') throw new Error(`unexpected ${outcome.kind}`);
  const { candidate } = outcome;
  return { ...request, attempt: 2, candidate, evidence: [...request.evidence, passed(candidate.tree)] };
}

const landings: readonly (readonly [outcome: string, Prepare])[] = [
  ['fast-forward', async () => scene.request(scene.change({ 'a.txt': 'two\n' }))],
  ['merge', verified],
  [
    'unverified',
    async () => {
      const request = scene.request(scene.change({ 'a.txt': 'two\n' }));
      scene.remote.advance({ 'b.txt': 'two\n' });
      return request;
    },
  ],
  [
    'conflict',
    async () => {
      const request = scene.request(scene.change({ 'a.txt': 'two\n' }));
      scene.remote.advance({ 'a.txt': 'three\n' });
      return request;
    },
  ],
];

test.each(landings)('a landing by %s ends the same, whichever call the merger dies at', async (outcome, prepare) => {
  const request = { ...(await prepare()), deadline: inAnHour() };
  const again = scene.remember();
  const landing: MessageLife = {
    service: 'merger',
    stage: landStage,
    handler: async (process) => {
      if (process.mortal.lives) await leases.flushall();
      return process.stepHandler('merger', scene.merger(mergerOf(process.mortal)));
    },
  };
  const live = async (mortal: MortalProcess) => {
    again();
    await world.empty();
    await leases.flushall();
    await world.publish(LandStepRequested, request);
    await world.settle(mortal, landing);
    return end();
  };
  expect(await tryEveryPoint({ name: `Land: ${outcome}`, live, when: ['after'], at: leavesTrace })).toBeGreaterThan(6);
});

test('a repository is opened the same, whichever call the merger dies at', async () => {
  const example = OpenStepRequested.payload.parse(OpenStepRequested.example);
  const project = { ...example.project, remote: scene.remote.path, checks: ['true'] };
  const again = scene.remember();
  const live = async (mortal: MortalProcess) => {
    again();
    scene.bundles.names.clear();
    await world.empty();
    await world.publish(OpenStepRequested, { ...example, project, deadline: inAnHour() });
    await world.settle(mortal, {
      service: 'merger',
      stage: openStage,
      handler: (process) => {
        const { git, bundles } = mergerOf(process.mortal);
        const handler = new OpenRepositoryHandler(
          new RemoteRepositories(scene.mirrors({ git })),
          bundles,
          () => new Date(),
        );
        return process.stepHandler('merger', handler);
      },
    });
    return end();
  };
  expect(await tryEveryPoint({ name: 'Open', live, when: ['after'], at: leavesTrace })).toBeGreaterThan(4);
});
