import type { CommitId } from '@flotilla/contracts/ids';
import { plainDiff } from './diff.ts';
import type { MirrorReader } from './mirror.ts';

/**
 * The change from one commit to another, byte for byte as `git apply` takes it, binary files included. Not for reading: a
 * file may hide in it. Throws gitOutputTooLarge beyond 512 MiB.
 */
export async function writePatch(mirror: MirrorReader, from: CommitId, to: CommitId): Promise<Buffer> {
  const { stdout } = await mirror.run({
    args: ['diff-tree', '-r', '-p', '--binary', ...plainDiff, '--end-of-options', from, to],
    outputLimitBytes: 512 * 1024 * 1024,
    timeLimitMs: 300_000,
  });
  return stdout;
}
