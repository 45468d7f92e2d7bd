import { chmodSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { CommitId } from '@flotilla/contracts/ids';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { summariseLines } from './binary-diff.ts';
import { diffIdentity } from './diff-identity.ts';
import { diffCommits, listChangedFiles } from './diff.ts';
import { ensureCommit } from './ensure-commit.ts';
import type { Mirror } from './mirror.ts';
import { makeRemote, mirrorOf, type Files, type ScratchRemote } from './scratch.fixture.ts';
import { shareRoom } from './share-room.ts';

interface Bench {
  readonly mirror: Mirror;
  readonly remote: ScratchRemote;
  readonly base: CommitId;
  commit(files: Files, on?: CommitId): Promise<CommitId>;
}

async function layBench(files: Files): Promise<Bench> {
  const remote = makeRemote(files);
  const mirror = await mirrorOf(remote.checkout.directory);
  const commit: Bench['commit'] = async (changed, on) => {
    if (on !== undefined) remote.checkout.git('checkout', '-q', '--detach', on);
    const made = remote.checkout.commit(changed);
    remote.checkout.git('branch', `keep-${made}`);
    await ensureCommit(mirror, made);
    return made;
  };
  return { mirror, remote, base: await commit({}), commit };
}

const lines = (from: number, to: number): string =>
  Array.from({ length: to - from + 1 }, (_, index) => `line ${from + index}\n`).join('');

test('kinds of files that deserve a look are noted', async () => {
  const { mirror, remote, base, commit } = await layBench({ 'run.sh': '#!/bin/sh\n', 'a.txt': 'a\n' });
  chmodSync(join(remote.checkout.directory, 'run.sh'), 0o755);
  symlinkSync('/etc/passwd', join(remote.checkout.directory, 'link'));
  const next = await commit({ '.gitattributes': '* -diff\n', 'image.png': Buffer.from([137, 80, 78, 71, 0, 0, 1, 2]) });
  const { files } = await diffCommits(mirror, base, next, { limitBytes: 10_000 });
  expect(files.map(({ path, additions, notes }) => [path, additions, notes])).toEqual([
    ['.gitattributes', 1, ['git-settings']],
    ['image.png', null, ['binary']],
    ['link', 1, ['symlink']],
    ['run.sh', 0, ['executable']],
  ]);
});

test('control and bidirectional characters and stray bytes are shown, not obeyed', async () => {
  const { mirror, base, commit } = await layBench({ 'a.txt': 'a\n' });
  const next = await commit({
    'a.txt': Buffer.concat([Buffer.from('x\u001b[2K\u202e\r'), Buffer.from([0xff]), Buffer.from('\n')]),
  });
  const { text } = await diffCommits(mirror, base, next, { limitBytes: 10_000 });
  expect(text).toContain('+x\\x1b[2K\\u{202e}\\r\\xff\n');
});

test('a binary file is summed up and the text in it is shown', async () => {
  const { mirror, base, commit } = await layBench({ 'b.bin': Buffer.from('start\0\nold text\nend\n') });
  const noise = Buffer.from(Array.from({ length: 4000 }, (_, index) => (index * 7919) % 256));
  const next = await commit({
    'b.bin': Buffer.concat([Buffer.from('start\0\nnew text\nend\n'), noise]),
    'gone.bin': Buffer.from('\0'),
  });
  const { text, files } = await diffCommits(mirror, base, next, { limitBytes: 100_000 });
  expect(text).toContain('Binary files a/b.bin and b/b.bin differ');
  expect(text).toContain('-old text\n+new text\n');
  expect(text).toMatch(/\+⟨\d{3,4} bytes that are not text⟩/);
  expect(text.length).toBeLessThan(2000);
  expect(files.map(({ status, path }) => `${status} ${path}`)).toEqual(['modified b.bin', 'added gone.bin']);
});

test('lines that are not text become one line with their size', () => {
  const noise = Buffer.from([1, 2, 3, 0, 5]);
  const diff = Buffer.concat([
    Buffer.from('diff\n@@ -1 +1 @@\n-'),
    noise,
    Buffer.from('\n-'),
    noise,
    Buffer.from('\n+text\n'),
  ]);
  expect(summariseLines(diff)).toBe('-⟨12 bytes that are not text⟩\n+text\n');
});

test('within the limit small files are whole, the large one is cut where it says so, and every file is listed', async () => {
  const { mirror, base, commit } = await layBench({ 'a.txt': 'a\n' });
  const next = await commit({ 'a-large.lock': lines(1, 20_000), 'z.txt': 'small and last\n' });
  const diff = await diffCommits(mirror, base, next, { limitBytes: 5000 });
  expect(diff.truncated).toBe(true);
  expect(diff.text).toContain('+small and last');
  expect(diff.text).toMatch(/… \d+ more lines of this file are not shown\n/);
  expect(Buffer.byteLength(diff.text)).toBeLessThanOrEqual(5000);
  expect(diff.files).toHaveLength(2);
});

test('room is shared so that what fits is whole, and the limit holds for any texts', () => {
  expect(shareRoom(['aaaa\n', 'b\n'], 100)).toEqual({ text: 'aaaa\nb\n', cut: false });
  expect(shareRoom([lines(1, 40), 'b\n'], 80)).toEqual({
    text: 'line 1\nline 2\n… 38 more lines of this file are not shown\nb\n',
    cut: true,
  });
  expect(shareRoom([], 10)).toEqual({ text: '', cut: false });
  const texts = fc.array(
    fc.array(fc.string(), { maxLength: 20 }).map((parts) => parts.map((part) => `${part}\n`).join('')),
  );
  fc.assert(
    fc.property(texts, fc.nat(300), (given, limit) => {
      const { text, cut } = shareRoom(given, limit);
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(limit);
      if (!cut) expect(text).toBe(given.join(''));
    }),
  );
});

test('the same change on a moved base has the same identity', async () => {
  const { mirror, base, commit } = await layBench({ 'a.txt': lines(1, 60), 'b.txt': 'b\n' });
  const change = await commit(
    { 'a.txt': lines(1, 49) + 'changed\n' + lines(51, 60), 'new.txt': 'n\n', 'b.bin': Buffer.from([0, 1, 2]) },
    base,
  );
  const moved = await commit({ 'a.txt': `first\n${lines(1, 60)}`, 'b.txt': 'B\n', 'c.txt': 'c\n' }, base);
  const again = await commit(
    { 'a.txt': `first\n${lines(1, 49)}changed\n${lines(51, 60)}`, 'new.txt': 'n\n', 'b.bin': Buffer.from([0, 1, 2]) },
    moved,
  );
  const identity = await diffIdentity(mirror, base, change);
  expect(identity).toMatch(/^v1-[0-9a-f]{64}$/);
  expect(await diffIdentity(mirror, moved, again)).toBe(identity);
});

test('any other byte, white space, file, mode or kind gives another identity', async () => {
  const { mirror, remote, base, commit } = await layBench({
    'a.txt': lines(1, 60),
    'b.txt': 'b\n',
    'i.bin': Buffer.from([0, 1]),
  });
  const edits: readonly Files[] = [
    { 'a.txt': `${lines(1, 49)}changed\n${lines(51, 60)}` },
    { 'a.txt': `${lines(1, 49)}changed \n${lines(51, 60)}` },
    { 'a.txt': `${lines(1, 49)}  changed\n${lines(51, 60)}` },
    { 'a.txt': `${lines(1, 49)}changed\n${lines(50, 60)}` },
    { 'a.txt': `${lines(1, 49)}changed\r\n${lines(51, 60)}` },
    { 'a.txt': `${lines(1, 49)}changed\n${lines(51, 60)}`, 'b.txt': 'b' },
    { 'c.txt': 'changed\n' },
    { 'd.txt': 'changed\n' },
    { 'i.bin': Buffer.from([0, 2]) },
    { 'i.bin': Buffer.from([0, 3]) },
  ];
  const commits: CommitId[] = [];
  for (const edit of edits) commits.push(await commit(edit, base));
  remote.checkout.git('checkout', '-q', '--detach', base);
  chmodSync(join(remote.checkout.directory, 'b.txt'), 0o755);
  commits.push(await commit({}));
  chmodSync(join(remote.checkout.directory, 'b.txt'), 0o644);
  rmSync(join(remote.checkout.directory, 'b.txt'));
  symlinkSync('b\n', join(remote.checkout.directory, 'b.txt'));
  commits.push(await commit({}));
  const identities = new Set<string>();
  for (const made of commits) identities.add(await diffIdentity(mirror, base, made));
  expect(identities.size).toBe(commits.length);
});

test('commits with equal trees differ in nothing', async () => {
  const { mirror, base, commit } = await layBench({ 'a.txt': 'a\n' });
  const same = await commit({});
  expect(await listChangedFiles(mirror, base, same)).toEqual([]);
  expect(await diffCommits(mirror, base, same, { limitBytes: 1000 })).toEqual({
    text: '',
    files: [],
    truncated: false,
  });
});
