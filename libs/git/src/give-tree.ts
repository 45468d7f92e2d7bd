import { closeSync, fchownSync, lchownSync, readdirSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { inside, openDirectory, openRoot } from './open-beneath.ts';

export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** Makes `owner` the owner of a directory and everything beneath it. Links are given themselves and never followed. */
export async function giveTree(path: string, owner: Owner): Promise<void> {
  const root = openRoot(path);
  try {
    await giveDirectory(root, owner);
  } finally {
    closeSync(root);
  }
}

async function giveDirectory(directory: number, owner: Owner): Promise<void> {
  await nextTurn();
  const entries = readdirSync(`/proc/self/fd/${directory}`, { withFileTypes: true, encoding: 'buffer' });
  for (const entry of entries) {
    if (!entry.isDirectory()) {
      lchownSync(inside(directory, entry.name), owner.uid, owner.gid);
      continue;
    }
    const child = openDirectory(directory, entry.name);
    try {
      await giveDirectory(child, owner);
    } finally {
      closeSync(child);
    }
  }
  fchownSync(directory, owner.uid, owner.gid);
}
