import { access, mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { lastWords, runCommand } from '../run-command.ts';
import type { CommandResult } from '../run-command.ts';
import { reportWhile } from '../report.ts';
import type { Report } from '../report.ts';
import { makeMachineDirectory } from './machine-directory.ts';
import { withMachineLock } from './machine-lock.ts';

export interface InstallOptions {
  readonly packages: readonly string[];
  readonly report: Report;
  readonly signal?: AbortSignal | undefined;
}

/** Whether apt can install for us: we are root and have apt-get. */
export async function canInstallPackages(): Promise<boolean> {
  return process.getuid?.() === 0 && (await exists('/usr/bin/apt-get'));
}

/**
 * Installs what is missing of the named Debian packages, without recommended ones and without letting them start or
 * enable a service. Stays installed; one process of the machine at a time.
 */
export async function installPackages({ packages, report, signal }: InstallOptions): Promise<void> {
  const names = packages.join(' ');
  await withMachineLock({ name: 'packages', purpose: `installing ${names}`, report, signal }, async () => {
    const missing = await findMissing(packages, signal);
    if (missing.length === 0) return;
    await reportWhile(
      report,
      'apt',
      `installing ${missing.join(' ')} on this machine`,
      (activity) => withoutServices(missing, () => runApt(missing, activity.update, signal)),
      () => `installed ${missing.join(' ')} on this machine, where it stays`,
      signal,
    );
    await disableServices(missing);
  });
}

async function findMissing(packages: readonly string[], signal: AbortSignal | undefined): Promise<string[]> {
  const query = await runCommand(
    'dpkg-query',
    ['--show', '--showformat=${db:Status-Status} ${Package}\n', ...packages],
    { ...(signal && { signal }) },
  );
  const installed = new Set(
    query.stdout
      .split('\n')
      .flatMap((line) => (line.startsWith('installed ') ? [line.slice('installed '.length)] : [])),
  );
  return packages.filter((name) => !installed.has(name));
}

async function runApt(
  packages: readonly string[],
  update: (text: string) => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  const environment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C.UTF-8' };
  const patience = [
    '-o',
    'Acquire::Retries=1',
    '-o',
    'Acquire::http::Timeout=15',
    '-o',
    'Acquire::https::Timeout=15',
    '-o',
    'DPkg::Lock::Timeout=300',
  ];
  const onLine = (line: string): void => {
    const step = /^(Get:|Unpacking|Setting up|Hit:)\S*\s*(?:\S+:\/\S+ )?(.*)$/.exec(line);
    if (step?.[1] === 'Unpacking' || step?.[1] === 'Setting up')
      update(`${step[1].toLowerCase()} ${step[2]?.split(' ')[0]}`);
    else if (step !== null) update('downloading packages');
  };
  const options = { environment, onLine, ...(signal && { signal }) };
  const install = (): Promise<CommandResult> =>
    runCommand('apt-get', [...patience, 'install', '-y', '--no-install-recommends', ...packages], options);
  const fresh = await areListsFresh();
  let result = fresh ? await install() : undefined;
  if (result === undefined || result.code !== 0) {
    // A broken third-party source must not stop us: whether the lists are good enough is what the installation shows.
    await runCommand('apt-get', [...patience, 'update'], options);
    await writeFile(join(await makeMachineDirectory(), updatedName), '');
    result = await install();
  }
  if (result.code !== 0) {
    throw new FlotillaError(errors.packagesNotInstalled, { packages: packages.join(' '), reason: lastWords(result) });
  }
}

const updatedName = 'apt-updated';
const listsStayFreshMs = 10 * 60_000;

/** Whether we read apt's package lists a moment ago, for another package of the same bring-up. */
async function areListsFresh(): Promise<boolean> {
  const updated = await stat(join(await makeMachineDirectory(), updatedName)).catch(() => undefined);
  return updated !== undefined && Date.now() - updated.mtimeMs < listsStayFreshMs;
}

const policyPath = '/usr/sbin/policy-rc.d';
const clusterPolicyPath = '/etc/postgresql-common/createcluster.d/flotilla.conf';

/** While `install` runs, packages are told not to start services (policy-rc.d) and not to create a database cluster. */
async function withoutServices(packages: readonly string[], install: () => Promise<void>): Promise<void> {
  const databases = packages.some((name) => name.startsWith('postgresql'));
  const ours = !(await exists(policyPath));
  if (ours)
    await writeFile(policyPath, '#!/bin/sh\n# Written by flotilla while it installs packages.\nexit 101\n', {
      mode: 0o755,
    });
  if (databases) {
    await mkdir(dirname(clusterPolicyPath), { recursive: true });
    await writeFile(clusterPolicyPath, 'create_main_cluster = false\n');
  }
  try {
    await install();
  } finally {
    if (ours) await rm(policyPath, { force: true });
    await rm(clusterPolicyPath, { force: true });
  }
}

/** Units that would otherwise start at the next boot beside our own servers; the Docker engine's is left as its package wants it. */
const unitsOfPackages: Readonly<Record<string, string>> = {
  'nats-server': 'nats-server',
  'redis-server': 'redis-server',
  postgresql: 'postgresql',
};

async function disableServices(packages: readonly string[]): Promise<void> {
  const units = packages.flatMap((name) => unitsOfPackages[name] ?? []);
  if (units.length > 0) await runCommand('systemctl', ['disable', '--now', ...units]);
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
