import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errors } from '@flotilla/errors/catalogue';
import { expect, test, vi } from 'vitest';
import { createGit, type GitCommandTrace } from './run-git.ts';
import { makeRemote, scratchDirectory } from './scratch.fixture.ts';

/** A PATH whose `git` is a shell script, for what git itself does not do on request. */
function pathWithGit(script: string): string {
  const directory = scratchDirectory();
  writeFileSync(join(directory, 'git'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return `${directory}:/usr/bin:/bin`;
}

test('git gets an environment built from nothing and an explicit repository', async () => {
  vi.stubEnv('GIT_DIR', '/somewhere');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'canary-value');
  const git = createGit({ programPath: pathWithGit('env; pwd; echo "$@"') });
  const { stdout } = await git({ args: ['status'] });
  vi.unstubAllEnvs();
  const text = stdout.toString('utf8');
  expect(text).not.toContain('canary-value');
  expect(text).not.toContain('/somewhere');
  expect(text).toContain('GIT_CONFIG_GLOBAL=/dev/null\n');
  expect(text).toContain('GIT_ALLOW_PROTOCOL=\n');
  expect(text).toContain('\n/\n--git-dir=/dev/null status\n');
});

test('a call beyond its time is stopped with everything that it started', async () => {
  const directory = scratchDirectory();
  const pidFile = join(directory, 'pid');
  const git = createGit({ programPath: pathWithGit(`sleep 600 & echo $! > ${pidFile}; wait`) });
  writeFileSync(pidFile, '');
  // On a busy machine even a shell may need longer to start something.
  for (let timeLimitMs = 300; readFileSync(pidFile, 'utf8') === ''; timeLimitMs *= 2)
    await expect(git({ args: ['fetch'], timeLimitMs })).rejects.toMatchObject({ code: errors.gitTimedOut.code });
  const pid = readFileSync(pidFile, 'utf8').trim();
  await expect.poll(() => existsSync(`/proc/${pid}/cwd`)).toBe(false);
});

test('output beyond its limit is an error, or cut where the caller says so', async () => {
  const git = createGit({ programPath: pathWithGit('while :; do echo 0123456789; done') });
  await expect(git({ args: ['log'], outputLimitBytes: 1000 })).rejects.toMatchObject({
    code: errors.gitOutputTooLarge.code,
  });
  const answer = await git({ args: ['log'], outputLimitBytes: 1000, beyondOutputLimit: 'cut' });
  expect(answer).toMatchObject({ cut: true, exitCode: 0 });
  expect(answer.stdout).toHaveLength(1000);
});

test('an aborted call rejects with the reason of the abort', async () => {
  const controller = new AbortController();
  const git = createGit({ programPath: pathWithGit('sleep 600') });
  const call = git({ args: ['fetch'], signal: controller.signal });
  controller.abort(new Error('lease lost'));
  await expect(call).rejects.toThrow('lease lost');
  await expect(git({ args: ['fetch'], signal: controller.signal })).rejects.toThrow('lease lost');
});

test('a host without git is told so', async () => {
  const empty = join(scratchDirectory(), 'empty');
  mkdirSync(empty);
  await expect(createGit({ programPath: empty })({ args: ['version'] })).rejects.toMatchObject({ code: 'GIT_MISSING' });
});

test('a failure tells the command, its exit code and what git said, without secrets and paths of ours', async () => {
  const git = createGit({ programPath: pathWithGit('echo "fatal: s3cr3t-token in $1" >&2; exit 7') });
  const call = git({ args: ['fetch', 's3cr3t-token'], gitDirectory: '/var/mirrors/x.git', secrets: ['s3cr3t-token'] });
  await expect(call).rejects.toMatchObject({
    code: 'GIT_FAILED',
    message: 'git fetch failed with exit code 7: fatal: <secret> in --git-dir=<path>',
  });
});

test('a full disk is told as such', async () => {
  const git = createGit({
    programPath: pathWithGit('echo "fatal: write error: No space left on device" >&2; exit 128'),
  });
  await expect(git({ args: ['gc'] })).rejects.toMatchObject({ code: 'MIRROR_DISK_FULL' });
});

test('every call is traced with its duration and exit code and without secrets', async () => {
  const traces: GitCommandTrace[] = [];
  const git = createGit({ programPath: pathWithGit('exit 3'), onCommand: (trace) => traces.push(trace) });
  await git({ args: ['push', '--porcelain', 'https://x/s3cr3t-token'], secrets: ['s3cr3t-token'], accept: [3] });
  expect(traces).toEqual([
    { command: 'push', summary: 'push --porcelain https://x/<secret>', durationMs: expect.any(Number), exitCode: 3 },
  ]);
});

test('a repository of its own is never discovered', async () => {
  const git = createGit();
  await expect(git({ args: ['rev-parse', '--absolute-git-dir'] })).rejects.toMatchObject({ code: 'GIT_FAILED' });
});

test('git has nothing to complain of about the settings that we give it', async () => {
  const { bare } = makeRemote();
  const answer = await createGit()({ gitDirectory: bare, args: ['log', '-1'] });
  expect(answer.complaint).toBe('');
});
