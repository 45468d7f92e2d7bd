import { createHash } from 'node:crypto';
import { readSync, writeSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';

const chunkBytes = 1024 * 1024;

/** Git's id of a blob with this content. */
export function blobId(content: Uint8Array): string {
  return createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex');
}

/**
 * Git's id of an open file with `sizeBytes` bytes, read from its start; what is read also goes to `copyTo` when given.
 * Undefined when it does not have that size any more. Lets other work go on between chunks.
 */
export async function hashFile(descriptor: number, sizeBytes: number, copyTo?: number): Promise<string | undefined> {
  const hash = createHash('sha1').update(`blob ${sizeBytes}\0`);
  const chunk = Buffer.allocUnsafe(Math.min(chunkBytes, sizeBytes + 1));
  let position = 0;
  for (;;) {
    const bytes = readSync(descriptor, chunk, 0, chunk.length, position);
    if (bytes === 0) break;
    position += bytes;
    if (position > sizeBytes) return undefined;
    hash.update(chunk.subarray(0, bytes));
    if (copyTo !== undefined) writeSync(copyTo, chunk.subarray(0, bytes));
    if (position % chunkBytes === 0) await nextTurn();
  }
  return position === sizeBytes ? hash.digest('hex') : undefined;
}
