import { closeSync, fstatSync, opendirSync, readFileSync, type Dirent } from 'node:fs';
import { blobId } from './hash-file.ts';
import { openForReading } from './open-beneath.ts';

export interface DirectoryEntry {
  readonly name: Buffer;
  readonly kind: 'directory' | 'file' | 'link';
}

export type DirectoryListing =
  | {
      readonly kind: 'listed';
      readonly entries: readonly DirectoryEntry[];
      /** Its `.gitignore` when that is a regular file, as git takes no other. */
      readonly ignoreFile: { readonly content: Buffer; readonly objectId: string } | undefined;
    }
  | { readonly kind: 'too-many' };

const ignoreFileName = Buffer.from('.gitignore');
const ignoreFileLimitBytes = 1024 * 1024;

/** Lists an open directory up to `room` entries. Sockets, devices and FIFOs are left out, as git leaves them out. */
export function listDirectory(descriptor: number, room: number): DirectoryListing {
  const entries: DirectoryEntry[] = [];
  // The types of opendir know neither the encoding 'buffer' nor that names are buffers then.
  const directory = opendirSync(`/proc/self/fd/${descriptor}`, {
    encoding: 'buffer' as BufferEncoding,
    bufferSize: 256,
  });
  try {
    for (;;) {
      const entry = directory.readSync() as unknown as Dirent<Buffer> | null;
      if (entry === null) break;
      if (entries.length >= room) return { kind: 'too-many' };
      const kind = kindOf(entry);
      if (kind !== undefined) entries.push({ name: entry.name, kind });
    }
  } finally {
    directory.closeSync();
  }
  entries.sort((left, right) => Buffer.compare(left.name, right.name));
  const hasIgnoreFile = entries.some(({ name, kind }) => kind === 'file' && name.equals(ignoreFileName));
  return { kind: 'listed', entries, ignoreFile: hasIgnoreFile ? readIgnoreFile(descriptor) : undefined };
}

function kindOf(entry: Dirent<Buffer>): DirectoryEntry['kind'] | undefined {
  if (entry.isDirectory()) return 'directory';
  if (entry.isFile()) return 'file';
  return entry.isSymbolicLink() ? 'link' : undefined;
}

function readIgnoreFile(descriptor: number): { content: Buffer; objectId: string } | undefined {
  const file = openForReading(descriptor, ignoreFileName);
  try {
    const { size } = fstatSync(file);
    if (size > ignoreFileLimitBytes) return undefined;
    const content = readFileSync(file);
    return { content, objectId: blobId(content) };
  } finally {
    closeSync(file);
  }
}
