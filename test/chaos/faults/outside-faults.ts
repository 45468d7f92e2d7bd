import { chmod, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Random } from '../random.ts';
import type { ChaosWorld } from '../world/chaos-world.ts';
import { projectNames } from '../workload.ts';
import type { Fault } from './fault.ts';
import { hold } from './hold.ts';

const remotesRefuse: Fault = hookFault('the remotes refuse every push', () => 'echo "not now" >&2\nexit 1\n');
const remotesSlow: Fault = hookFault('the remotes are slow', (random) => `sleep ${random.between(1, 4)}\n`);

/** Remotes whose pre-receive hook does something to every push. */
function hookFault(name: string, body: (random: Random) => string): Fault {
  return {
    target: 'hooks',
    name,
    strike: async (world, random, signal) => {
      const forMs = random.between(1_000, 6_000);
      const hooks = hookPaths(world);
      for (const hook of hooks) {
        await mkdir(join(hook, '..'), { recursive: true });
        await writeFile(`${hook}.new`, `#!/bin/sh\n${body(random)}`);
        await chmod(`${hook}.new`, 0o755);
        await rename(`${hook}.new`, hook);
      }
      await hold(forMs, signal);
      for (const hook of hooks) await rm(hook, { force: true });
    },
  };
}

function hookPaths({ remotesDirectory }: ChaosWorld): readonly string[] {
  return projectNames.map((name) => join(remotesDirectory, `${name}.git/hooks/pre-receive`));
}

const diskFull: Fault = {
  target: 'disk',
  name: 'the disk is full',
  strike: async ({ disk }, random, signal) => {
    if (disk === undefined) return;
    const forMs = random.between(1_000, 5_000);
    try {
      await disk.fill();
      await hold(forMs, signal);
    } finally {
      await disk.free();
    }
  },
};

export const outsideFaults: readonly Fault[] = [remotesRefuse, remotesSlow, diskFull];
