import { setImmediate as nextTick } from 'node:timers/promises';
import { DirectoryHandle, errorCode } from './directory-handle.ts';

const stepsBetweenPauses = 200;

/**
 * Removes a member and all below it. Follows no link and enters no other file system; needs two open directories
 * however deep the tree is, because what lies two levels down is first moved up. Safe to repeat.
 */
export async function removeTree(parent: DirectoryHandle, name: string): Promise<void> {
  const facts = parent.stat(name);
  if (facts === undefined) return;
  if (!facts.isDirectory()) return parent.unlink(name);
  using top = openUnlocked(parent, name);
  const device = top.statSelf().dev;
  const pause = createPause();
  let moved = 0;

  while (!isEmpty(top)) {
    for (const entry of top.members()) {
      await pause();
      if (!top.stat(entry.name)?.isDirectory()) {
        top.unlink(entry.name);
        continue;
      }
      using child = openUnlocked(top, entry.name);
      if (child.statSelf().dev !== device) throw new Error(`${entry.name} is on another file system`);
      for (const grandchild of child.members()) {
        await pause();
        if (child.stat(grandchild.name)?.isDirectory()) {
          moved += 1;
          moveUp(child, grandchild.name, top, `.flotilla-removed-${moved}`);
        } else {
          child.unlink(grandchild.name);
        }
      }
      // A listing read while it changes may have missed a member: the next round takes it.
      if (isEmpty(child)) top.removeDirectory(entry.name);
    }
  }
  parent.removeDirectory(name);
}

function isEmpty(directory: DirectoryHandle): boolean {
  for (const _ of directory.members()) return false;
  return true;
}

function openUnlocked(parent: DirectoryHandle, name: string): DirectoryHandle {
  try {
    return parent.openDirectory(name);
  } catch (error) {
    if (errorCode(error) !== 'EACCES') throw error;
    parent.unlock(name);
    return parent.openDirectory(name);
  }
}

function moveUp(from: DirectoryHandle, name: string, to: DirectoryHandle, toName: string): void {
  try {
    from.rename(name, to, toName);
  } catch (error) {
    if (errorCode(error) !== 'EACCES') throw error;
    from.unlock(name);
    from.rename(name, to, toName);
  }
}

function createPause(): () => Promise<void> {
  let steps = 0;
  return async () => {
    steps += 1;
    if (steps % stepsBetweenPauses === 0) await nextTick();
  };
}
