import { closeSync, constants, openSync } from 'node:fs';

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants;

/** Path of a name inside an open directory, which the kernel resolves from that directory whatever was renamed since. */
export function inside(directory: number, name: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`/proc/self/fd/${directory}/`), name]);
}

/** Opens the root that the caller names: the one path that is followed as it is. */
export function openRoot(path: string): number {
  return openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
}

/** Opens a name in an open directory as a directory; a link fails with ENOTDIR or ELOOP. */
export function openDirectory(parent: number, name: Buffer): number {
  return openSync(inside(parent, name), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
}

/** Opens a name in an open directory for reading; a link fails with ELOOP and a FIFO does not block. */
export function openForReading(parent: number, name: Buffer): number {
  return openSync(inside(parent, name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
}

/** Runs `work` on the directory that the names lead to from the root, following no link, and closes it again. */
export function withDirectory<Result>(
  root: number,
  names: readonly Buffer[],
  work: (directory: number) => Result,
): Result {
  let current = root;
  try {
    for (const name of names) {
      const next = openDirectory(current, name);
      if (current !== root) closeSync(current);
      current = next;
    }
    return work(current);
  } finally {
    if (current !== root) closeSync(current);
  }
}
