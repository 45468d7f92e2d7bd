import type fs from 'node:fs';
import { setImmediate as nextTick } from 'node:timers/promises';
import { errorCode, type DirectoryHandle, type MemberName } from './directory-handle.ts';

export interface TreeSize {
  readonly bytes: number;
  readonly entries: number;
  /** Deeper than anything sensible, or over the given limits: counting stopped there. */
  readonly beyond: boolean;
}

const blockBytes = 512;
const deepest = 200;
const stepsBetweenPauses = 500;

/**
 * Disk use of a tree that may change meanwhile: blocks, so a sparse file counts what it holds; a hard-linked file once.
 * Follows no link. Stops as soon as a limit is passed.
 */
export async function measureTree(
  root: DirectoryHandle,
  limits: { readonly bytes: number; readonly entries: number },
): Promise<TreeSize> {
  let bytes = 0;
  let entries = 0;
  const seen = new Set<number>();

  async function visit(directory: DirectoryHandle, depth: number): Promise<boolean> {
    for (const name of directory.members()) {
      entries += 1;
      if (entries % stepsBetweenPauses === 0) await nextTick();
      const facts = statUnlessLocked(directory, name);
      if (facts === undefined) continue;
      if (facts.nlink > 1 && !facts.isDirectory()) {
        if (seen.has(facts.ino)) continue;
        seen.add(facts.ino);
      }
      bytes += facts.blocks * blockBytes;
      if (bytes > limits.bytes || entries > limits.entries || depth > deepest) return false;
      if (facts.isDirectory() && !(await enter(directory, name, depth))) return false;
    }
    return true;
  }

  async function enter(parent: DirectoryHandle, name: MemberName, depth: number): Promise<boolean> {
    let directory: DirectoryHandle;
    try {
      directory = parent.openDirectory(name);
    } catch {
      // Gone, replaced or locked since it was listed; what it holds is seen by the next measurement, or by nobody.
      return true;
    }
    using opened = directory;
    return await visit(opened, depth + 1);
  }

  const within = await visit(root, 0);
  return { bytes, entries, beyond: !within };
}

/** A directory may be locked so that its names can be read and nothing more, where the service is not root. */
function statUnlessLocked(directory: DirectoryHandle, name: MemberName): fs.Stats | undefined {
  try {
    return directory.stat(name);
  } catch (error) {
    if (errorCode(error) === 'EACCES') return undefined;
    throw error;
  }
}
