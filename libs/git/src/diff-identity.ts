import { createHash, type Hash } from 'node:crypto';
import type { CommitId } from '@flotilla/contracts/ids';
import { plainDiff } from './diff.ts';
import type { MirrorReader } from './mirror.ts';

/**
 * A hash that tells whether two diffs are the same change: paths, modes, every added and removed byte and the three lines
 * of context, but neither line numbers nor blob ids, so that the same change on a moved base is equal as long as nobody
 * touched its surroundings. Unlike `git patch-id` it does not ignore white space and covers binary content. A change that
 * moved to another place with the same surroundings in the same file is not told apart.
 */
export async function diffIdentity(mirror: MirrorReader, from: CommitId, to: CommitId): Promise<string> {
  const hash = createHash('sha256');
  const lines = createLineHasher(hash);
  await mirror.run({
    args: ['diff-tree', '-r', '-p', '--text', ...plainDiff, '--end-of-options', from, to],
    onOutput: lines.add,
    outputLimitBytes: 2 * 1024 * 1024 * 1024,
    timeLimitMs: 300_000,
  });
  lines.end();
  return `v1-${hash.digest('hex')}`;
}

/** A line of content starts with a space, +, - or \, so that the two kinds of header lines are known by their start. */
function createLineHasher(hash: Hash): { add(chunk: Buffer): void; end(): void } {
  let parts: Buffer[] = [];
  const hashLine = (line: Buffer): void => {
    if (line.subarray(0, 3).equals(hunkStart)) hash.update('@@\n');
    else if (line.subarray(0, 6).equals(indexStart))
      hash.update(`${line.toString('latin1').replace(/^index \S+/, 'index')}`);
    else hash.update(line);
  };
  return {
    add(chunk) {
      let start = 0;
      for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
        hashLine(Buffer.concat([...parts, chunk.subarray(start, end + 1)]));
        parts = [];
        start = end + 1;
      }
      if (start < chunk.length) parts.push(chunk.subarray(start));
    },
    end: () => hashLine(Buffer.concat(parts)),
  };
}

const hunkStart = Buffer.from('@@ ');
const indexStart = Buffer.from('index ');
