import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createGit, type RunGit } from '@flotilla/git/run-git';
import { MemoryStepContext } from '@flotilla/testing/memory-step-context';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { LandingScene, passed } from './land-change.fixture.ts';

let scene: LandingScene;
beforeEach(() => {
  scene = new LandingScene();
});
afterEach(() => scene.remove());

const context = () => new MemoryStepContext();

test('whichever git command it dies after, of those that leave a trace, run again it has landed exactly once', async () => {
  const commands = await countGitCommands();
  expect(commands).toBeGreaterThanOrEqual(3);
  for (let last = 0; last <= commands; last += 1) {
    const crashing = new LandingScene();
    try {
      const { request, approved } = await verifiedMerge(crashing);
      const died = crashing.merger({ git: dieAfter(last) }).work(request, context());
      await died.catch(() => undefined);
      const again = await crashing.merger().work(request, context());
      expect(again.outcome, `dies after command ${last}`).toMatchObject({ kind: 'done' });
      expect(crashing.timesLanded(approved), `dies after command ${last}`).toBe(1);
    } finally {
      crashing.remove();
    }
  }
});

/** A request whose candidate has passed: the next landing pushes a merge. */
async function verifiedMerge(of: LandingScene) {
  const approved = of.change({ 'a.txt': 'two\n' });
  of.remote.advance({ 'b.txt': 'two\n' });
  const request = of.request(approved);
  const { outcome } = await of.merger().work(request, context());
  if (outcome.kind !== 'unverified') throw new Error(`unexpected ${outcome.kind}`);
  const { candidate } = outcome;
  const verified = { ...request, attempt: 2, candidate, evidence: [...request.evidence, passed(candidate.tree)] };
  return { request: verified, approved };
}

async function countGitCommands(): Promise<number> {
  const counted = new LandingScene();
  const git = createGit();
  let commands = 0;
  const counting: RunGit = (call) => {
    if (leavesTrace(call)) commands += 1;
    return git(call);
  };
  try {
    const { request } = await verifiedMerge(counted);
    await counted.merger({ git: counting }).work(request, context());
    return commands;
  } finally {
    counted.remove();
  }
}

/** The process does not live to see the answer of its last such command; nothing of it runs after that. */
function dieAfter(last: number): RunGit {
  const git = createGit();
  let commands = 0;
  return async (call) => {
    if (leavesTrace(call)) commands += 1;
    const answer = commands <= last ? await git(call) : undefined;
    if (answer === undefined || (commands === last && leavesTrace(call))) throw new Error('the process is dead');
    return answer;
  };
}

/** Dying after a command that only reads is dying after the one before it. */
function leavesTrace({ args }: Parameters<RunGit>[0]): boolean {
  return ['fetch', 'index-pack', 'commit-tree', 'update-ref', 'push'].includes(args[0] ?? '');
}

test('whether a step that is not to land any more has landed is read off the branch, and moves nothing', async () => {
  const approved = scene.change({ 'a.txt': 'two\n' });
  const request = scene.request(approved);
  expect(await scene.merger().findDone(request, context())).toBeUndefined();
  expect(scene.remote.head()).toBe(scene.base);
  await scene.merger().work(request, context());
  scene.remote.advance({ 'b.txt': 'two\n' });
  expect(await scene.merger({ host: 'another' }).findDone(request, context())).toMatchObject({
    outcome: { kind: 'done', result: { verb: 'land', commit: approved.commit } },
    entries: [{ type: 'change.landed', payload: { how: 'found', previous: scene.base } }],
  });
});

const unreadable: readonly (readonly [string, (of: LandingScene) => () => void])[] = [
  [
    'the repository is moved away',
    ({ remote: { path } }) => {
      writeHook(path, `cd / && mv '${path}' '${path}.away'`);
      return () => renameSync(`${path}.away`, path);
    },
  ],
  [
    'the branch is renamed',
    ({ remote }) => {
      writeHook(remote.path, 'git branch -m main away');
      return () => remote.git('branch', '-m', 'away', 'main');
    },
  ],
];

/** Runs in the remote once it took a push. */
function writeHook(path: string, text: string): void {
  const hook = join(path, 'hooks', 'post-receive');
  mkdirSync(dirname(hook), { recursive: true });
  writeFileSync(hook, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
}

test.each(unreadable)(
  'where %s with the push, the landing waits for the branch and then says what it says',
  async (_, hide) => {
    const approved = scene.change({ 'a.txt': 'two\n' });
    const request = scene.request(approved);
    const step = context();
    const restore = hide(scene);
    const waits = { code: 'LANDING_UNCONFIRMED', remedy: 'wait', message: expect.stringContaining(approved.commit) };
    await expect(scene.merger().work(request, step)).rejects.toMatchObject(waits);
    await expect(scene.merger({ host: 'another' }).work(request, step)).rejects.toMatchObject(waits);
    await expect(scene.merger().findDone(request, step)).rejects.toMatchObject({
      code: 'LANDING_UNKNOWN',
      message: expect.stringContaining(`${approved.commit} was pushed to main`),
    });
    restore();
    expect(await scene.merger().work(request, step)).toMatchObject({
      outcome: { kind: 'done', result: { commit: approved.commit } },
      entries: [{ payload: { how: 'found' } }],
    });
    expect(scene.timesLanded(approved)).toBe(1);
  },
);
