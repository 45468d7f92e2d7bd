import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CommitId } from '@flotilla/contracts/ids';
import { expect, onTestFinished, vi } from 'vitest';
import { captureChange } from './capture-change.ts';
import { diffCommits } from './diff.ts';
import { readHead } from './landing.ts';
import { layTree } from './lay-tree.ts';
import type { Mirror } from './mirror.ts';
import {
  at,
  emptyWorkspace,
  makeRemote,
  mirrorOf,
  occasion,
  plainGit,
  scratchDirectory,
  writeFiles,
  type Files,
  type ScratchRemote,
} from './scratch.fixture.ts';

/** Every test first shows with plain git that its trap is live, then that ours does not spring it and still does its work. */
interface Trap {
  readonly canary: string;
  readonly script: string;
  /** Whether the payload ran since the last look. */
  sprung(): boolean;
}

export function setTrap(): Trap {
  const directory = scratchDirectory();
  const canary = join(directory, 'canary');
  const script = join(directory, 'evil.sh');
  writeFileSync(script, `#!/bin/sh\ntouch ${canary}\ncat\n`, { mode: 0o755 });
  return {
    canary,
    script,
    sprung() {
      const there = existsSync(canary);
      rmSync(canary, { force: true });
      return there;
    },
  };
}

export function tryPlainGit(cwd: string, ...args: readonly string[]): void {
  try {
    plainGit(cwd, ...args);
  } catch {
    // Only the canary counts.
  }
}

interface Site {
  readonly remote: ScratchRemote;
  readonly mirror: Mirror;
  readonly base: CommitId;
  readonly directory: string;
  capture(): ReturnType<typeof captureChange>;
}

export async function laySite(files: Files = { 'a.txt': 'a\n' }): Promise<Site> {
  const remote = makeRemote(files);
  const mirror = await mirrorOf(remote.bare);
  const { commit: base } = await readHead(mirror, 'main');
  const directory = emptyWorkspace();
  await layTree(mirror, { commit: base, directory });
  return {
    remote,
    mirror,
    base,
    directory,
    capture: () => captureChange(mirror, { base, directory, message: 'Work', occasion, at }),
  };
}

export async function expectStillWorks(site: Site): Promise<void> {
  writeFiles(site.directory, { 'neighbour.txt': 'legitimate\n' });
  const captured = await site.capture();
  expect(captured).toMatchObject({ kind: 'changed' });
  if (captured.kind === 'changed') await diffCommits(site.mirror, site.base, captured.commit, { limitBytes: 10_000 });
}

/** A host whose own configuration and environment are full of what must not be read. */
export function hostileHost(configuration: string): string {
  const home = scratchDirectory();
  onTestFinished(() => void vi.unstubAllEnvs());
  writeFileSync(join(home, '.gitconfig'), configuration);
  vi.stubEnv('HOME', home);
  vi.stubEnv('GIT_CONFIG_GLOBAL', join(home, '.gitconfig'));
  return join(home, '.gitconfig');
}
