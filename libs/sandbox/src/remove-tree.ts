import { setImmediate as nextTick } from 'node:timers/promises';
import { DirectoryHandle, errorCode, type MemberName } from './directory-handle.ts';

const stepsBetweenPauses = 200;

/**
 * Removes a member and all below it. Follows no link and enters no other file system; needs two open directories
 * however deep the tree is, because what lies two levels down is first moved up. Safe to repeat.
 */
export async function removeTree(parent: DirectoryHandle, tree: MemberName): Promise<void> {
  const facts = parent.stat(tree);
  if (facts === undefined) return;
  if (!facts.isDirectory()) return parent.unlink(tree);
  using top = openUnlocked(parent, tree);
  const device = top.statSelf().dev;
  const pause = createPause();
  let moved = 0;

  while (!isEmpty(top)) {
    for (const name of top.members()) {
      await pause();
      if (!top.stat(name)?.isDirectory()) {
        top.unlink(name);
        continue;
      }
      using child = openUnlocked(top, name);
      if (child.statSelf().dev !== device) throw new Error(`${name.toString()} is on another file system`);
      for (const below of child.members()) {
        await pause();
        if (child.stat(below)?.isDirectory()) {
          do moved += 1;
          while (top.stat(asideName(moved)) !== undefined);
          moveUp(child, below, top, asideName(moved));
        } else {
          child.unlink(below);
        }
      }
      // A listing read while it changes may have missed a member: the next round takes it.
      if (isEmpty(child)) top.removeDirectory(name);
    }
  }
  parent.removeDirectory(tree);
}

/** The tree may hold such a name already. */
function asideName(number: number): string {
  return `.flotilla-removed-${number}`;
}

function isEmpty(directory: DirectoryHandle): boolean {
  for (const _ of directory.members()) return false;
  return true;
}

function openUnlocked(parent: DirectoryHandle, name: MemberName): DirectoryHandle {
  try {
    return parent.openDirectory(name);
  } catch (error) {
    if (errorCode(error) !== 'EACCES') throw error;
    parent.unlock(name);
    return parent.openDirectory(name);
  }
}

function moveUp(from: DirectoryHandle, name: MemberName, to: DirectoryHandle, toName: string): void {
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
