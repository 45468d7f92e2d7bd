import { execFile } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Change } from '@flotilla/contracts/change';
import { defaultProgramPath, gitEnvironment } from '@flotilla/git/git-environment';
import { createGit, type GitCall, type RunGit } from '@flotilla/git/run-git';
import { LandingScene } from '@flotilla/merger/land-change.fixture';
import { RedisMergeLease } from '@flotilla/merger/lease/redis-merge-lease';
import { MemoryStepContext } from '@flotilla/testing/memory-step-context';
import { type Bench, measureOf, ratioOf, timed } from './harness.ts';

const run = promisify(execFile);

export const landing: Bench = {
  name: 'landing',
  summary: 'landings one after the other, against a shell script of the same git commands',
  run: async ({ quick, servers, directory }) => {
    const sizes = quick ? { rounds: 2, changes: 5 } : { rounds: 5, changes: 20 };
    const ours: number[] = [];
    const shell: number[] = [];
    let commands: readonly string[] = [];
    const lease = new RedisMergeLease({ url: servers.redis.url });
    try {
      for (let round = 0; round < sizes.rounds; round += 1) {
        const played = await playRound(lease, directory, sizes.changes);
        ours.push((sizes.changes * 1_000) / played.oursMs);
        shell.push((sizes.changes * 1_000) / played.shellMs);
        commands = played.commands;
      }
    } finally {
      lease.close();
    }
    return {
      measures: [measureOf('merger', 'landings/s', ours), measureOf('shell script', 'landings/s', shell)],
      ratios: [
        ratioOf(
          'landings a second over the shell script',
          ours.map((rate, round) => [rate, shell[round] ?? 0]),
          { atLeast: 0.7 },
        ),
      ],
      notes: [
        `${commands.length} git commands a landing: ${commands.join(' ')}`,
        'a fast-forward with evidence, the lease in Redis, the bundle of the change from memory, the remote on the local disk',
        'the script runs on copies of the mirror and the remote as they were before, with the arguments, environment and input that the merger gave',
      ],
    };
  },
};

async function playRound(lease: RedisMergeLease, directory: string, count: number) {
  const calls: GitCall[] = [];
  const plain = createGit();
  const git: RunGit = (call) => {
    calls.push(call);
    return plain(call);
  };
  const scene = new LandingScene();
  try {
    const merger = scene.merger({ git, lease });
    // The mirror is there before, as it is in a fleet: `open` made it.
    await land(scene, merger, scene.change({ 'first.txt': 'first\n' }));
    const changes = chain(scene, count);
    const before = [scene.remote.path, scene.mirrors().mirrorDirectory];
    for (const path of before) await copy(path, `${path}.before`);
    calls.length = 0;
    const oursMs = await timed(async () => {
      for (const change of changes) await land(scene, merger, change);
    });
    for (const path of before) await copy(`${path}.before`, path);
    const script = await writeScript(calls, directory);
    const shellMs = await timed(() => run('sh', [script]));
    if (scene.remote.head() !== changes.at(-1)?.commit)
      throw new Error('the script did not land what the merger landed');
    return { oursMs, shellMs, commands: calls.slice(0, calls.length / count).map(({ args }) => args[0] ?? '') };
  } finally {
    scene.remove();
  }
}

async function copy(from: string, to: string): Promise<void> {
  await rm(to, { recursive: true, force: true });
  await run('cp', ['-a', from, to]);
}

/** Each is made on the one before it. */
function chain(scene: LandingScene, count: number): readonly Change[] {
  const changes: Change[] = [];
  for (let place = 0; place < count; place += 1)
    changes.push(scene.change({ [`file-${place}.txt`]: `${place}\n` }, changes.at(-1)?.commit ?? scene.remote.head()));
  return changes;
}

async function land(scene: LandingScene, merger: ReturnType<LandingScene['merger']>, change: Change): Promise<void> {
  const base = { commit: change.base, bundle: `base/${change.base}` };
  const { outcome } = await merger.work(scene.request(change, { base }), new MemoryStepContext());
  if (outcome.kind !== 'done') throw new Error(`a landing ended with ${outcome.kind}`);
}

async function writeScript(calls: readonly GitCall[], directory: string): Promise<string> {
  const lines = await Promise.all(
    calls.map(async ({ args, gitDirectory = '/dev/null', workTree, settings, variables, input = '' }, place) => {
      const file = join(directory, `input-${place}`);
      await writeFile(file, input);
      const environment = Object.entries(gitEnvironment({ programPath: defaultProgramPath, settings, variables }));
      const words = [
        ...environment.map(([name, value]) => `${name}=${value}`),
        'git',
        `--git-dir=${gitDirectory}`,
        ...(workTree === undefined ? [] : [`--work-tree=${workTree}`]),
        ...args,
      ];
      return `env -i ${words.map(quote).join(' ')} <${quote(file)} >/dev/null 2>&1`;
    }),
  );
  const script = join(directory, 'land.sh');
  await writeFile(script, `${lines.join('\n')}\n`);
  return script;
}

function quote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
