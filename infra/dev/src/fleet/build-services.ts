import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fleetErrors } from '@flotilla/errors/catalogue/fleet';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { takeFileLock } from '../machine/file-lock.ts';
import { reportWhile, type Report } from '../report.ts';
import { repositoryDirectory } from '../repository.ts';
import { lastWords, runCommand } from '../run-command.ts';
import { writeShippedProjects } from './shipped-sources.ts';

/** Of all-in-one every service is a part; the command line starts sooner when it is compiled. */
const programs = ['services/all-in-one', 'services/cli'];

/** Compiles what has changed since the last time, without tests; one compilation of a clone at a time. Throws BUILD_FAILED. */
export async function buildServices({
  report,
  signal,
}: {
  readonly report: Report;
  readonly signal: AbortSignal;
}): Promise<void> {
  await reportWhile(
    report,
    'build',
    'compiling the services',
    async (activity) => {
      const directory = join(repositoryDirectory, '.data');
      await mkdir(directory, { recursive: true });
      const lock = await takeFileLock({ path: join(directory, 'build.lock'), purpose: 'compiling', signal }, 'wait');
      try {
        const compiler = join(repositoryDirectory, 'node_modules/typescript/bin/tsc');
        const into = join(directory, 'build');
        const projects = await writeShippedProjects({ clone: repositoryDirectory, into }, programs);
        const result = await runCommand(process.execPath, [compiler, '-b', ...projects], {
          directory: repositoryDirectory,
          signal,
          onLine: (line) => activity.update(line),
        });
        if (result.code !== 0) throw new FlotillaError(fleetErrors.buildFailed, { reason: lastWords(result, 8) });
      } finally {
        if (lock.kind === 'held') await lock.release();
      }
    },
    () => 'the services are compiled',
    signal,
  );
}
