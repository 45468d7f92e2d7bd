import { mkdir, open, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { lastWords, runCommand } from '@flotilla/dev/run-command';

const sizeMegabytes = 2_048;
const chunk = Buffer.alloc(1 << 20);

/** A file system of its own for a directory, which can be filled without hurting the machine. */
export interface SmallDisk {
  fill(): Promise<void>;
  free(): Promise<void>;
  remove(): Promise<void>;
}

/** Mounts one over an empty directory. Throws where this machine does not let us. */
export async function mountSmallDisk(directory: string): Promise<SmallDisk> {
  await mkdir(directory, { recursive: true });
  const options = ['-t', 'tmpfs', '-o', `size=${sizeMegabytes}m,mode=0755`, 'flotilla-chaos', directory];
  const mounted = await runCommand('mount', options);
  if (mounted.code !== 0) throw new Error(`a small disk could not be mounted: ${lastWords(mounted)}`);
  const ballast = join(directory, 'ballast');
  return {
    fill: async () => {
      const file = await open(ballast, 'w');
      try {
        for (;;) await file.write(chunk);
      } catch (error) {
        // Full is what was wanted.
        if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
      } finally {
        await file.close();
      }
      const { bavail } = await statfs(directory);
      if (bavail > 0) throw new Error(`${directory} is not full`);
    },
    free: () => rm(ballast, { force: true }),
    remove: async () => {
      const unmounted = await runCommand('umount', ['--lazy', directory]);
      if (unmounted.code !== 0) throw new Error(`${directory} could not be unmounted: ${lastWords(unmounted)}`);
    },
  };
}
