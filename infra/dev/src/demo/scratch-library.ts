import { createHash } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fleetErrors } from '@flotilla/errors/catalogue/fleet';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { lastWords, runCommand } from '../run-command.ts';

/** A small real library: no dependency, and it ships tests that bare `node` runs. */
export const library = {
  package: 'color-convert@0.5.3',
  archive: 'color-convert-0.5.3.tgz',
  integrity: 'sha512-RwBeO/B/vZR3dfKL1ye/vx8MHZ40ugzpyfeVG5GsiuGnrlMWe2o8wxBbLCpw9CsxV+wHuzYlCiWnybrIA0ling==',
  branch: 'main',
} as const;

/** The one defect put in: a sign, in the saturation of light colours. The library's own tests notice. */
export const defect = {
  path: 'conversions.js',
  sound: 's = delta / (2 - max - min);',
  broken: 's = delta / (2 - max + min);',
} as const;

const author = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.com',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.com',
};

/** Makes a bare repository at `<directory>/remote.git` that holds the library with its defect; gives its path. */
export async function makeScratchRemote(directory: string, cacheDirectory: string): Promise<string> {
  const archive = await fetchLibrary(cacheDirectory);
  const source = join(directory, 'source');
  const remote = join(directory, 'remote.git');
  await rm(directory, { recursive: true, force: true });
  await mkdir(source, { recursive: true });
  await run('tar', ['-xzf', archive, '-C', source, '--strip-components=1']);
  await plantDefect(join(source, defect.path));
  await git(source, ['init', '--quiet', `--initial-branch=${library.branch}`]);
  await git(source, ['add', '--all']);
  await git(source, ['commit', '--quiet', '--message', `Import ${library.package}`]);
  await git(directory, ['clone', '--quiet', '--bare', source, remote]);
  return remote;
}

async function fetchLibrary(cacheDirectory: string): Promise<string> {
  const archive = join(cacheDirectory, library.archive);
  if (await isWhole(archive)) return archive;
  await mkdir(cacheDirectory, { recursive: true });
  await run('npm', ['pack', library.package, '--silent', '--pack-destination', cacheDirectory], cacheDirectory);
  if (await isWhole(archive)) return archive;
  throw new FlotillaError(fleetErrors.demoLibraryUnavailable, {
    package: library.package,
    reason: 'the archive is not the one that was pinned',
  });
}

async function isWhole(archive: string): Promise<boolean> {
  const bytes = await readFile(archive).catch(() => undefined);
  return bytes !== undefined && `sha512-${createHash('sha512').update(bytes).digest('base64')}` === library.integrity;
}

async function plantDefect(path: string): Promise<void> {
  const text = await readFile(path, 'utf8');
  await writeFile(path, text.replace(defect.sound, defect.broken));
}

async function git(directory: string, args: readonly string[]): Promise<void> {
  await run('git', args, directory);
}

async function run(command: string, args: readonly string[], directory?: string): Promise<void> {
  const environment = command === 'git' ? { ...process.env, ...author } : process.env;
  const result = await runCommand(command, args, { environment, ...(directory === undefined ? {} : { directory }) });
  if (result.code === 0) return;
  throw new FlotillaError(fleetErrors.demoLibraryUnavailable, { package: library.package, reason: lastWords(result) });
}
