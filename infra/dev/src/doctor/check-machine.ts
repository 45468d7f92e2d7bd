import { readFile, statfs } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { findCommand } from '../find-command.ts';
import { repositoryDirectory } from '../repository.ts';
import { runCommand } from '../run-command.ts';
import { isAtLeast } from '../servers/source.ts';
import { fail, pass } from './check.ts';
import type { Check, DoctorContext, Finding } from './check.ts';

const oldestNode = '24.11.1';
/** The first whose merge-tree merges without a worktree. */
const oldestGit = '2.38.0';
/** The sandbox image takes 0.6 GB with its base; mirrors, workspaces and the log grow. */
const leastDiskBytes = 4e9;
/** Seven services as processes take 1.3 GB, a sandbox up to what it is allowed. */
const leastMemoryBytes = 3e9;

/** Node, packages, commands, disk and memory. */
export function machineChecks({ environment, dataDirectory }: DoctorContext): readonly Check[] {
  return [
    { id: 'node.version', title: 'Node.js', run: async () => checkNode(process.versions.node) },
    { id: 'npm.install', title: 'npm packages', run: checkPackages },
    { id: 'git.version', title: 'git', run: checkGit },
    { id: 'system.commands', title: 'flock and setpriv', run: () => checkCommands(environment) },
    { id: 'disk.space', title: 'disk space', run: () => checkDisk(dataDirectory) },
    {
      id: 'memory',
      title: 'memory',
      run: async () => checkMemory(Math.min(process.constrainedMemory() || Infinity, totalmem())),
    },
  ];
}

export function checkNode(version: string): Finding {
  if (isAtLeast(version, oldestNode)) return pass(version);
  return fail(
    `${version}, older than ${oldestNode}`,
    'Run "npm ci", which brings node 24 on Linux, and start by "npm start"; elsewhere install node 24.',
  );
}

async function checkPackages(): Promise<Finding> {
  // This repository's own manifest.
  const manifest = JSON.parse(await readFile(join(repositoryDirectory, 'package.json'), 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  const wanted = Object.entries(manifest.dependencies);
  const found = await Promise.all(wanted.map(([name]) => readVersion(name)));
  const wrong = wanted.filter(([, version], index) => found[index] !== version).map(([name]) => name);
  if (wrong.length === 0) return pass(`${wanted.length} as pinned`);
  return fail(
    `missing or of another version: ${wrong.slice(0, 5).join(', ')}${wrong.length > 5 ? ` and ${wrong.length - 5} more` : ''}`,
    'Run "npm ci".',
  );
}

async function readVersion(name: string): Promise<string | undefined> {
  const text = await readFile(join(repositoryDirectory, 'node_modules', name, 'package.json'), 'utf8').catch(() => '');
  return /"version":\s*"([^"]+)"/.exec(text)?.[1];
}

async function checkGit(): Promise<Finding> {
  const { code, stdout } = await runCommand('git', ['--version']);
  const version = /\d+(\.\d+)+/.exec(stdout)?.[0];
  if (code !== 0 || version === undefined) return fail('not installed', 'Install git.');
  return isAtLeast(version, oldestGit)
    ? pass(version)
    : fail(`${version}, older than ${oldestGit}`, `Install git ${oldestGit} or newer.`);
}

async function checkCommands(environment: DoctorContext['environment']): Promise<Finding> {
  const commands = ['flock', 'setpriv'];
  const paths = await Promise.all(commands.map((name) => findCommand(name, environment)));
  const missing = commands.filter((_, index) => paths[index] === undefined);
  return missing.length === 0 ? pass('installed') : fail(`missing: ${missing.join(', ')}`, 'Install util-linux.');
}

async function checkDisk(dataDirectory: string): Promise<Finding> {
  const { bavail, bsize } = await statNearest(dataDirectory);
  const free = bavail * bsize;
  if (free >= leastDiskBytes) return pass(`${gigabytes(free)} free`);
  return fail(`${gigabytes(free)} free at ${dataDirectory}`, `Make room: a fleet needs ${gigabytes(leastDiskBytes)}.`);
}

async function statNearest(path: string): Promise<{ readonly bavail: number; readonly bsize: number }> {
  return statfs(path).catch((error: unknown) => {
    if (dirname(path) === path) throw error;
    return statNearest(dirname(path));
  });
}

export function checkMemory(bytes: number): Finding {
  if (bytes >= leastMemoryBytes) return pass(gigabytes(bytes));
  return fail(
    gigabytes(bytes),
    'Start with "npm start -- --all-in-one", which runs all services in one process, or give the machine 3 GB.',
  );
}

function gigabytes(bytes: number): string {
  return `${(bytes / 1e9).toFixed(1)} GB`;
}
