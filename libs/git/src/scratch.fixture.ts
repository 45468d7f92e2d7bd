import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { CommitId, RunId, StepId } from '@flotilla/contracts/ids';
import { onTestFinished } from 'vitest';
import type { CommitOccasion } from './commit-message.ts';
import { openMirror, type Mirror } from './mirror.ts';
import type { RemoteCredential } from './remote-access.ts';
import { parseRemote } from './remote.ts';
import { createGit, type GitCommandTrace } from './run-git.ts';

/** A directory that is gone after the test. */
export function scratchDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'flotilla-git-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Plain git by cwd, as a person or an attacker runs it: it discovers repositories and obeys their configuration. */
export function plainGit(cwd: string, ...args: readonly string[]): string {
  const identity = ['-c', 'user.name=Test', '-c', 'user.email=test@example.invalid', '-c', 'init.defaultBranch=main'];
  const env = {
    PATH: process.env['PATH'],
    HOME: '/dev/null',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
  };
  return execFileSync('git', [...identity, ...args], {
    cwd,
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trim();
}

export type Files = Readonly<Record<string, string | Buffer>>;

export function writeFiles(directory: string, files: Files): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), content);
  }
}

/** A work tree with its own repository. */
export interface Checkout {
  readonly directory: string;
  git(...args: readonly string[]): string;
  commit(files: Files, message?: string): CommitId;
}

export function makeCheckout(directory: string): Checkout {
  mkdirSync(directory, { recursive: true });
  const git: Checkout['git'] = (...args) => plainGit(directory, ...args);
  git('init', '-q');
  return {
    directory,
    git,
    commit(files, message = 'Change some files') {
      writeFiles(directory, files);
      git('add', '--all');
      git('commit', '-q', '--allow-empty', '-m', message);
      return CommitId.parse(git('rev-parse', 'HEAD'));
    },
  };
}

export interface ScratchRemote {
  readonly directory: string;
  readonly bare: string;
  /** A clone whose commits `push` brings to the remote. */
  readonly checkout: Checkout;
  push(branch?: string): void;
  read(...args: readonly string[]): string;
}

/** A bare remote and a checkout of it; `files` are its first commit on main, null: none. */
export function makeRemote(files: Files | null = { 'readme.md': 'hello\n' }): ScratchRemote {
  const directory = scratchDirectory();
  const bare = join(directory, 'remote.git');
  plainGit(directory, 'init', '-q', '--bare', bare);
  const checkout = makeCheckout(join(directory, 'checkout'));
  checkout.git('remote', 'add', 'origin', bare);
  const push = (branch = 'main'): void => void checkout.git('push', '-q', 'origin', `HEAD:refs/heads/${branch}`);
  if (files !== null) {
    checkout.commit(files);
    push();
  }
  return { directory, bare, checkout, push, read: (...args) => plainGit(bare, '--git-dir=.', ...args) };
}

export interface MirrorSetup {
  readonly cacheDirectory?: string;
  readonly credential?: RemoteCredential;
  readonly traces?: GitCommandTrace[];
}

export function mirrorOf(address: string, setup: MirrorSetup = {}): Promise<Mirror> {
  return openMirror({
    cacheDirectory: setup.cacheDirectory ?? join(scratchDirectory(), 'mirrors'),
    access: { remote: parseRemote(address), credential: setup.credential ?? { kind: 'none' } },
    git: createGit({ onCommand: (trace) => setup.traces?.push(trace) }),
  });
}

/** An empty directory to lay a tree in. */
export function emptyWorkspace(): string {
  const directory = join(scratchDirectory(), 'workspace');
  mkdirSync(directory);
  return directory;
}

export const runId = RunId.parse('run_01j9z3k8m2n4p6q8r0s2t4v6w8');
export const otherRunId = RunId.parse('run_01j9z3k8m2n4p6q8r0s2t4v6w9');
const stepId = StepId.parse('build');
export const landStepId = StepId.parse('land');
export const occasion: CommitOccasion = { runId, stepId, attempt: 1 };
export const at = new Date('2024-05-06T07:08:09Z');
