import { createHash } from 'node:crypto';

export interface LockFile {
  readonly path: string;
  /** Of the file's bytes, in hex. */
  readonly sha256: string;
}

export interface SetupFacts {
  /** The image's content id: another image may hold another tool. */
  readonly image: string;
  readonly commands: readonly string[];
  readonly lockFiles: readonly LockFile[];
}

/** Changes when what a setup leaves changes its meaning or its form. */
const format = 1;

/** The name of a setup in the store: the same image, commands and lock files give the same, in whatever order they are listed. */
export function setupKey({ image, commands, lockFiles }: SetupFacts): string {
  const files = lockFiles.map(({ path, sha256 }) => [path, sha256]).toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1));
  return createHash('sha256')
    .update(JSON.stringify([format, image, commands, files]))
    .digest('hex');
}
