import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CommitId } from '@flotilla/contracts/ids';
import { expect, test } from 'vitest';
import { addBundle, createBundle, readBundleHeader } from './bundle.ts';
import { ensureCommit, hasWholeCommit } from './ensure-commit.ts';
import { openMirror, type Mirror } from './mirror.ts';
import { parseRemote } from './remote.ts';
import { pinCommit, unpinRuns } from './pin.ts';
import { makeRemote, mirrorOf, otherRunId, plainGit, runId, scratchDirectory } from './scratch.fixture.ts';
import { createGit, type GitCommandTrace } from './run-git.ts';

const refsOf = async (mirror: Mirror): Promise<readonly string[]> =>
  (await mirror.run({ args: ['for-each-ref', '--format=%(refname)'] })).stdout
    .toString('utf8')
    .split('\n')
    .filter(Boolean);

test('a commit is fetched once by its id, into a namespace of ours', async () => {
  const remote = makeRemote();
  const traces: GitCommandTrace[] = [];
  const mirror = await mirrorOf(remote.bare, { traces });
  const commit = CommitId.parse(remote.read('rev-parse', 'main'));
  await ensureCommit(mirror, commit);
  await ensureCommit(mirror, commit);
  expect(await hasWholeCommit(mirror, commit)).toBe(true);
  expect(await refsOf(mirror)).toEqual([`refs/mirror/fetched/${commit}`]);
  expect(traces.filter(({ command }) => command === 'fetch')).toHaveLength(1);
});

test('an old commit of a branch is fetched by its id too', async () => {
  const remote = makeRemote();
  const old = CommitId.parse(remote.read('rev-parse', 'main'));
  remote.checkout.commit({ 'a.txt': 'a' });
  remote.push();
  const mirror = await mirrorOf(remote.bare);
  await ensureCommit(mirror, old);
  expect(await hasWholeCommit(mirror, old)).toBe(true);
});

test('where the remote serves no commit by id, its branches are fetched', async () => {
  const remote = makeRemote();
  const old = CommitId.parse(remote.read('rev-parse', 'main'));
  remote.checkout.commit({ 'a.txt': 'a' });
  remote.push();
  const directory = scratchDirectory();
  // An old server: protocol 0, which refuses ids that it does not advertise.
  writeFileSync(
    join(directory, 'git'),
    '#!/bin/sh\nexport GIT_CONFIG_COUNT=$((GIT_CONFIG_COUNT + 1)) GIT_CONFIG_KEY_${GIT_CONFIG_COUNT}=protocol.version GIT_CONFIG_VALUE_${GIT_CONFIG_COUNT}=0\nexec /usr/bin/git "$@"\n',
    { mode: 0o755 },
  );
  const traces: GitCommandTrace[] = [];
  const mirror = await openMirror({
    cacheDirectory: join(directory, 'mirrors'),
    access: { remote: parseRemote(remote.bare), credential: { kind: 'none' } },
    git: createGit({ programPath: `${directory}:/usr/bin:/bin`, onCommand: (trace) => traces.push(trace) }),
  });
  await ensureCommit(mirror, old);
  expect(await hasWholeCommit(mirror, old)).toBe(true);
  expect(traces.filter(({ command }) => command === 'fetch').map(({ exitCode }) => exitCode)).toEqual([1, 0]);
});

test('a commit that nobody has is told as such', async () => {
  const mirror = await mirrorOf(makeRemote().bare);
  const commit = CommitId.parse('1'.repeat(40));
  await expect(ensureCommit(mirror, commit)).rejects.toMatchObject({ code: 'COMMIT_UNAVAILABLE' });
  await expect(ensureCommit(mirror, commit, { loadBundle: () => Promise.resolve(undefined) })).rejects.toMatchObject({
    code: 'COMMIT_UNAVAILABLE',
  });
});

test('a commit that the remote lost comes from its stored bundle, and what the bundle builds on from the remote', async () => {
  const remote = makeRemote();
  const base = CommitId.parse(remote.read('rev-parse', 'main'));
  const first = await mirrorOf(remote.checkout.directory);
  const change = remote.checkout.commit({ 'a.txt': 'a' });
  await ensureCommit(first, change);
  const bundle = await createBundle(first, { commit: change, exclude: [base] });
  expect(readBundleHeader(bundle)).toMatchObject({ prerequisites: [base], tips: [change] });

  const second = await mirrorOf(remote.bare);
  await ensureCommit(second, change, { loadBundle: () => Promise.resolve(bundle), first: 'bundle' });
  expect(await hasWholeCommit(second, change)).toBe(true);
});

test('with the remote gone, a whole bundle still serves, and without one the remote is named as the reason', async () => {
  const remote = makeRemote();
  const base = CommitId.parse(remote.read('rev-parse', 'main'));
  const first = await mirrorOf(remote.bare);
  await ensureCommit(first, base);
  const bundle = await createBundle(first, { commit: base });
  const second = await mirrorOf(remote.bare);
  rmSync(remote.bare, { recursive: true });
  await expect(ensureCommit(second, base)).rejects.toMatchObject({ code: 'REMOTE_NOT_FOUND' });
  await ensureCommit(second, base, { loadBundle: () => Promise.resolve(bundle) });
  expect(await hasWholeCommit(second, base)).toBe(true);
});

test('any git reads our bundles', async () => {
  const remote = makeRemote();
  const commit = CommitId.parse(remote.read('rev-parse', 'main'));
  const mirror = await mirrorOf(remote.bare);
  await ensureCommit(mirror, commit);
  const path = join(scratchDirectory(), 'x.bundle');
  writeFileSync(path, await createBundle(mirror, { commit }));
  expect(plainGit(remote.checkout.directory, 'bundle', 'list-heads', path)).toBe(`${commit} refs/heads/change`);
  plainGit(remote.directory, 'clone', '-q', '-b', 'change', path, join(remote.directory, 'from-bundle'));
  expect(existsSync(join(remote.directory, 'from-bundle', 'readme.md'))).toBe(true);
});

test('a bundle made by git itself is taken', async () => {
  const remote = makeRemote();
  const path = join(scratchDirectory(), 'x.bundle');
  remote.checkout.git('bundle', 'create', '-q', path, 'HEAD', 'main');
  const bytes = execFileSync('cat', [path]);
  const mirror = await mirrorOf(makeRemote(null).bare);
  const [commit] = await addBundle(mirror, bytes);
  expect(commit).toBe(remote.checkout.git('rev-parse', 'HEAD'));
});

test('a bundle without its prerequisites, with broken contents or of another kind is refused and leaves nothing', async () => {
  const remote = makeRemote();
  const base = CommitId.parse(remote.read('rev-parse', 'main'));
  const first = await mirrorOf(remote.checkout.directory);
  const change = remote.checkout.commit({ 'a.txt': 'a' });
  await ensureCommit(first, change);
  const bundle = Buffer.from(await createBundle(first, { commit: change, exclude: [base] }));
  const stranger = await mirrorOf(makeRemote(null).bare);
  await expect(addBundle(stranger, bundle)).rejects.toMatchObject({ code: 'BUNDLE_PREREQUISITE_MISSING' });
  const whole = await createBundle(first, { commit: change });
  for (const broken of [
    Buffer.from('PACK'),
    Buffer.from('# v3 git bundle\n\nPACK'),
    Buffer.from(whole).subarray(0, whole.length - 30),
  ]) {
    await expect(addBundle(stranger, broken)).rejects.toMatchObject({ code: 'BUNDLE_REFUSED' });
  }
  expect(await refsOf(stranger)).toEqual([]);
});

test('objects that git finds dangerous come in neither by fetch nor by bundle', async () => {
  const remote = makeRemote();
  const blob = remote.read('hash-object', '-w', join(remote.checkout.directory, 'readme.md'));
  const entry = Buffer.concat([Buffer.from('100644 .git\0'), Buffer.from(blob, 'hex')]);
  writeFileSync(join(remote.directory, 'tree'), entry);
  const tree = remote.read('hash-object', '-t', 'tree', '-w', '--literally', join(remote.directory, 'tree'));
  const commit = CommitId.parse(remote.read('commit-tree', tree, '-m', 'Trap'));
  remote.read('update-ref', 'refs/heads/main', commit);
  const mirror = await mirrorOf(remote.bare);
  await expect(ensureCommit(mirror, commit)).rejects.toMatchObject({ code: 'OBJECTS_REFUSED' });
  const path = join(remote.directory, 'trap.bundle');
  remote.read('bundle', 'create', '-q', path, 'main');
  await expect(addBundle(mirror, execFileSync('cat', [path]))).rejects.toMatchObject({ code: 'OBJECTS_REFUSED' });
  expect(await hasWholeCommit(mirror, commit)).toBe(false);
});

test('a run pins its commits and lets go of them without touching those of another run', async () => {
  const remote = makeRemote();
  const mirror = await mirrorOf(remote.bare);
  const commit = CommitId.parse(remote.read('rev-parse', 'main'));
  await ensureCommit(mirror, commit);
  for (const run of [runId, runId, otherRunId]) await pinCommit(mirror, run, commit);
  await mirror.withLock((locked) => unpinRuns(locked, [runId]));
  await mirror.withLock((locked) => unpinRuns(locked, [runId]));
  expect(await refsOf(mirror)).toEqual([`refs/flotilla/${otherRunId}/${commit}`, `refs/mirror/fetched/${commit}`]);
});

test('lock files left by a crash do not stop the next writer', async () => {
  const remote = makeRemote();
  const mirror = await mirrorOf(remote.bare);
  const commit = CommitId.parse(remote.read('rev-parse', 'main'));
  mkdirSync(join(mirror.gitDirectory, 'refs/mirror/fetched'), { recursive: true });
  writeFileSync(join(mirror.gitDirectory, `refs/mirror/fetched/${commit}.lock`), '');
  await ensureCommit(mirror, commit);
  mkdirSync(join(mirror.gitDirectory, `refs/flotilla/${runId}`), { recursive: true });
  writeFileSync(join(mirror.gitDirectory, `refs/flotilla/${runId}/${commit}.lock`), '');
  writeFileSync(join(mirror.gitDirectory, 'packed-refs.lock'), '');
  await pinCommit(mirror, runId, commit);
  await mirror.withLock((locked) => unpinRuns(locked, [runId]));
  expect(await refsOf(mirror)).toEqual([`refs/mirror/fetched/${commit}`]);
});

test('a mirror whose making was interrupted is made anew', async () => {
  const remote = makeRemote();
  const cacheDirectory = join(scratchDirectory(), 'mirrors');
  const { gitDirectory } = await mirrorOf(remote.bare, { cacheDirectory });
  rmSync(join(gitDirectory, 'flotilla-mirror'));
  rmSync(join(gitDirectory, 'HEAD'));
  const again = await mirrorOf(remote.bare, { cacheDirectory });
  await ensureCommit(again, CommitId.parse(remote.read('rev-parse', 'main')));
  expect(readdirSync(cacheDirectory).filter((name) => name.startsWith('scratch-'))).toEqual([]);
});

test('many openings and fetches of one mirror at once all succeed', async () => {
  const remote = makeRemote();
  const commits = ['a', 'b', 'c', 'd'].map((name) => remote.checkout.commit({ [`${name}.txt`]: name }));
  remote.push();
  const cacheDirectory = join(scratchDirectory(), 'mirrors');
  const mirrors = await Promise.all(commits.map(() => mirrorOf(remote.bare, { cacheDirectory })));
  await Promise.all(mirrors.map((mirror, index) => ensureCommit(mirror, commits[index] as CommitId)));
  expect(new Set(mirrors.map(({ gitDirectory }) => gitDirectory)).size).toBe(1);
  for (const commit of commits) expect(await hasWholeCommit(mirrors[0]!, commit)).toBe(true);
});

test('a mirror that a crash of the host left corrupt is filled anew', async () => {
  const remote = makeRemote({ 'a.txt': 'a\n' });
  const mirror = await mirrorOf(remote.bare);
  const first = CommitId.parse(remote.read('rev-parse', 'main'));
  await ensureCommit(mirror, first);
  const second = remote.checkout.commit({ 'b.txt': 'b\n' });
  remote.push();
  const damage = (path: string): void => {
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      if (entry.isDirectory()) damage(join(path, entry.name));
      else {
        rmSync(join(path, entry.name));
        writeFileSync(join(path, entry.name), '');
      }
    }
  };
  damage(join(mirror.gitDirectory, 'objects'));
  expect(await hasWholeCommit(mirror, first)).toBe(false);
  await ensureCommit(mirror, second);
  expect(await hasWholeCommit(mirror, second)).toBe(true);
  expect(await hasWholeCommit(mirror, first)).toBe(true);
});
