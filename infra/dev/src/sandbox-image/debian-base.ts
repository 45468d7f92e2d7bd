import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import type Dockerode from 'dockerode';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { canInstallPackages, installPackages } from '../machine/debian-packages.ts';
import { readDebianSources } from '../machine/debian-sources.ts';
import type { DebianSources } from '../machine/debian-sources.ts';
import type { Activity, Report } from '../report.ts';
import { lastWords, runCommand } from '../run-command.ts';
import { followBuild } from './follow-build.ts';
import type { ImageContent } from './image-content.ts';

export interface DebianBaseOptions {
  readonly docker: Dockerode;
  readonly content: ImageContent;
  readonly activity: Activity;
  readonly report: Report;
  readonly signal?: AbortSignal | undefined;
}

/** Makes `content.baseImage` from the packages that this machine's own apt installs from. */
export async function buildDebianBase(options: DebianBaseOptions): Promise<void> {
  const { content, activity, report, signal } = options;
  const fail = (reason: string): never => {
    throw new FlotillaError(errors.sandboxImageUnavailable, { image: content.image, reason });
  };
  const sources = await readDebianSources(signal);
  if (sources === undefined)
    return fail('no image registry answers, and this machine has no apt sources to make an image from');
  if ((await runCommand('mmdebstrap', ['--version'])).code !== 0) {
    if (!(await canInstallPackages()))
      return fail('no image registry answers, and mmdebstrap is missing and only root can install it');
    activity.update('waiting for mmdebstrap');
    await installPackages({ packages: ['mmdebstrap'], report, signal });
  }
  const directory = await mkdtemp(join(tmpdir(), 'flotilla-base-'));
  try {
    const sourcesPath = join(directory, 'sources.list');
    await writeFile(sourcesPath, `${sources.lines.join('\n')}\n`);
    await bootstrap(options, sources, sourcesPath);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** mmdebstrap writes the system as a tar stream into the engine's import; it is tagged only once mmdebstrap has ended well. */
async function bootstrap(
  { docker, content, activity, signal }: DebianBaseOptions,
  sources: DebianSources,
  sourcesPath: string,
): Promise<void> {
  let imported: Promise<string> | undefined;
  const result = await runCommand('mmdebstrap', mmdebstrapArguments(content.packages, sources, sourcesPath), {
    ...(signal && { signal }),
    onLine: (line) => {
      const step = describeStep(line);
      if (step !== undefined) activity.update(step);
    },
    takeOutput: (output) => {
      imported = importSystem(docker, output, signal);
      imported.catch(() => undefined);
    },
  });
  if (result.code !== 0) {
    await imported?.then((id) => docker.getImage(id).remove()).catch(() => undefined);
    throw new FlotillaError(errors.sandboxImageUnavailable, {
      image: content.image,
      reason: `mmdebstrap failed: ${lastWords(result)}`,
    });
  }
  const [repo = '', tag = ''] = content.baseImage.split(':');
  const id = await imported;
  await docker.getImage(id ?? '').tag({ repo, tag });
}

function mmdebstrapArguments(packages: readonly string[], sources: DebianSources, sourcesPath: string): string[] {
  return [
    '--variant=apt',
    '--format=tar',
    `--include=${packages.join(',')}`,
    '--dpkgopt=force-unsafe-io',
    ...['doc', 'man', 'info', 'locale'].map((name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`),
    ...sources.options.map((option) => `--aptopt=${option}`),
    // Proxies may carry a password, and a sandbox holds none.
    '--customize-hook=rm -f "$1/etc/apt/apt.conf.d/99mmdebstrap"',
    sources.suite,
    '-',
    sourcesPath,
  ];
}

async function importSystem(docker: Dockerode, system: Readable, signal: AbortSignal | undefined): Promise<string> {
  const progress = await docker.importImage(system, { ...(signal && { abortSignal: signal }) });
  const last = await followBuild(progress, () => undefined);
  return last.status ?? '';
}

const steps: readonly (readonly [RegExp, string])[] = [
  [/apt-get update/, 'reading package lists'],
  [/downloading/, 'downloading packages'],
  [/extracting/, 'extracting the base system'],
  [/installing essential/, 'unpacking the base system'],
  [/installing remaining/, 'unpacking packages'],
  [/cleaning/, 'cleaning up'],
  [/creating tarball/, 'handing the system to the Docker engine'],
];

function describeStep(line: string): string | undefined {
  return steps.find(([pattern]) => pattern.test(line))?.[1];
}
