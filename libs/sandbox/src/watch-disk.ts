import { statfs } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { DirectoryHandle } from './directory-handle.ts';
import { measureTree } from './measure-tree.ts';

export interface DiskLimits {
  readonly bytes: number;
  readonly entries: number;
}

/** The disk under one workspace, over its commands, one after the other. */
export interface DiskWatch {
  /** Called before each command. */
  before(): Promise<void>;
  /**
   * Looks while the command runs and calls `onExceeded` once, with a sentence for people, when the workspace is over its limits
   * or the disk is nearly full. Ends with the signal. A workspace that was over them before the command may be emptied.
   */
  during(onExceeded: (reason: string) => void, signal: AbortSignal): Promise<void>;
  /** What the command, which has ended, made too much of, as a sentence for people. */
  after(): Promise<string | undefined>;
}

const firstLookMs = 1000;
const freeSpaceEveryMs = 100;
/** A measurement may take this share of the time, so that a large tree is looked at less often. */
const busyShare = 0.05;
/** Below this the disk itself is about to be full, whoever filled it. */
const reserveBytes = 256 * 1024 ** 2;
/** The disk that lost this share of the workspace's limits is reason to look at once: gigabytes are allocated in an instant. */
const lossShare = 1 / 8;

/** A command that ends at once is measured only where the disk lost much since the last measurement, to whomever. */
export function createDiskWatch(options: {
  readonly root: DirectoryHandle;
  readonly limits: DiskLimits;
  readonly now: () => number;
}): DiskWatch {
  const { root, limits, now } = options;
  let measuredAt: FreeSpace | undefined;
  let begunAt: FreeSpace = { bytes: 0, entries: 0 };
  let wasBeyond = false;

  const measure = async (free: FreeSpace): Promise<string | undefined> => {
    const size = await measureTree(root, limits);
    measuredAt = free;
    wasBeyond = size.beyond;
    return size.beyond ? describeExcess(size, limits) : undefined;
  };

  return {
    async before() {
      begunAt = await readFreeSpace(root);
      measuredAt ??= begunAt;
    },
    async during(onExceeded, signal) {
      const mayBeBeyond = wasBeyond;
      let lookedAt = begunAt;
      let nextLook = now() + firstLookMs;
      while (await pause(freeSpaceEveryMs, signal)) {
        const free = await readFreeSpace(root);
        if (free.bytes < reserveBytes) return onExceeded('the disk of the sandboxes is nearly full');
        const isDue = now() >= nextLook && !mayBeBeyond;
        if (!isDue && !hasLost(lookedAt, free, limits)) continue;
        const started = now();
        const excess = await measure(free);
        if (signal.aborted) return;
        if (excess !== undefined) return onExceeded(excess);
        lookedAt = free;
        nextLook = now() + Math.max(firstLookMs, (now() - started) / busyShare);
      }
    },
    async after() {
      const free = await readFreeSpace(root);
      const hasGrown = hasLost(measuredAt ?? begunAt, free, limits);
      if (!hasGrown && !wasBeyond) return undefined;
      const excess = await measure(free);
      return hasGrown ? excess : undefined;
    },
  };
}

interface FreeSpace {
  readonly bytes: number;
  readonly entries: number;
}

async function readFreeSpace(root: DirectoryHandle): Promise<FreeSpace> {
  const { bavail, bsize, ffree } = await statfs(root.selfPath);
  return { bytes: bavail * bsize, entries: ffree };
}

function hasLost(before: FreeSpace, now: FreeSpace, limits: DiskLimits): boolean {
  return (
    before.bytes - now.bytes > limits.bytes * lossShare || before.entries - now.entries > limits.entries * lossShare
  );
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
