import { statfs } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { DirectoryHandle } from './directory-handle.ts';
import { measureTree } from './measure-tree.ts';

export interface DiskLimits {
  readonly bytes: number;
  readonly entries: number;
}

const firstLookMs = 1000;
const freeSpaceEveryMs = 500;
/** A measurement may take this share of the time, so that a large tree is looked at less often. */
const busyShare = 0.05;
/** Below this the disk itself is about to be full, whoever filled it. */
const reserveBytes = 256 * 1024 ** 2;

/**
 * Looks at a workspace while a command runs and calls `onExceeded` once, with a sentence for people, when it is over its
 * limits or the disk is nearly full. Ends with the signal. A short command is never measured.
 */
export async function watchDisk(options: {
  readonly root: DirectoryHandle;
  readonly limits: DiskLimits;
  readonly onExceeded: (reason: string) => void;
  readonly signal: AbortSignal;
  readonly now: () => number;
}): Promise<void> {
  const { root, limits, onExceeded, signal, now } = options;
  let nextLook = now() + firstLookMs;
  while (await pause(freeSpaceEveryMs, signal)) {
    const { bavail, bsize } = await statfs(root.selfPath);
    if (bavail * bsize < reserveBytes) return onExceeded('the disk of the sandboxes is nearly full');
    if (now() < nextLook) continue;
    const started = now();
    const size = await measureTree(root, limits);
    if (signal.aborted) return;
    if (size.beyond) return onExceeded(describeExcess(size, limits));
    nextLook = now() + Math.max(firstLookMs, (now() - started) / busyShare);
  }
}

function describeExcess(size: { readonly bytes: number; readonly entries: number }, limits: DiskLimits): string {
  if (size.bytes > limits.bytes) return `the workspace is over its limit of ${limits.bytes} bytes`;
  if (size.entries > limits.entries) return `the workspace is over its limit of ${limits.entries} files`;
  return 'the workspace is nested too deeply';
}

async function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await delay(ms, undefined, { signal });
    return true;
  } catch {
    return false;
  }
}
