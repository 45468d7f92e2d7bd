import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  statSync,
  writeFileSync,
  type BigIntStats,
} from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { blobId, hashFile } from './hash-file.ts';
import type { Mirror } from './mirror.ts';
import { zeroId } from './object-id.ts';
import { inside, openForReading, withDirectory } from './open-beneath.ts';
import type { TreeEntry } from './read-tree.ts';
import { toVisibleText } from './visible-text.ts';
import { namesOf, type Walk, type WalkedFile } from './walk-workspace.ts';

export interface CaptureLimits {
  /** Entries of the workspace that are not ignored. Default 500 000. */
  readonly entries: number;
  /** Default 10 000. */
  readonly changedFiles: number;
  /** Of one changed file. Default 50 MiB. */
  readonly fileBytes: number;
  /** Of all changed files. Default 200 MiB. */
  readonly totalBytes: number;
}

/** Blob ids of files by path, trusted while the file's inode, size and times are those of the earlier capture. */
export type WorkspaceMemory = Map<string, { readonly stamp: string; readonly objectId: string }>;

export function createWorkspaceMemory(): WorkspaceMemory {
  return new Map();
}

interface Collection {
  readonly mirror: Mirror;
  readonly root: number;
  readonly base: readonly TreeEntry[];
  readonly walk: Walk;
  readonly limits: CaptureLimits;
  readonly scratch: string;
  readonly memory: WorkspaceMemory | undefined;
}

interface Change {
  readonly path: string;
  readonly mode: '100644' | '100755' | '120000';
  readonly objectId: string;
}

/** Writes the contents that the base lacks and returns what differs from it, deletions first, for `update-index --index-info`. */
export async function collectChanges(collection: Collection): Promise<readonly Buffer[]> {
  const { base, walk } = collection;
  const before = new Map(base.map((entry) => [entry.pathBytes, entry]));
  const present = new Set(walk.files.map(({ path }) => path));
  const deleted = base.filter(({ pathBytes }) => !present.has(pathBytes) && !walk.submodules.has(pathBytes));
  const staging = createStaging(collection);
  const changes: Change[] = [];
  for (const [index, file] of walk.files.entries()) {
    if (index % 64 === 0) await nextTurn();
    const change = await readFileState(collection, file, staging, before.get(file.path));
    if (change !== undefined) changes.push(change);
    if (changes.length + deleted.length > collection.limits.changedFiles) {
      tooLarge(`more than ${collection.limits.changedFiles} changed files`);
    }
  }
  await staging.writeObjects();
  return [
    ...deleted.map(({ pathBytes }) => indexRecord('0', zeroId, pathBytes)),
    ...changes.map(({ mode, objectId, path }) => indexRecord(mode, objectId, path)),
  ];
}

function indexRecord(mode: string, objectId: string, path: string): Buffer {
  return Buffer.from(`${mode} ${objectId}\t${path}\0`, 'latin1');
}

async function readFileState(
  collection: Collection,
  file: WalkedFile,
  staging: Staging,
  before: TreeEntry | undefined,
): Promise<Change | undefined> {
  const names = namesOf(file.path);
  const name = names.at(-1) ?? Buffer.alloc(0);
  const open = <Result>(work: (directory: number) => Result): Result =>
    explainAccess(file.path, () => withDirectory(collection.root, names.slice(0, -1), work));
  if (file.kind === 'link') {
    const target = open((directory) => readlinkSync(inside(directory, name), { encoding: 'buffer' }));
    const objectId = blobId(target);
    if (before?.kind === 'symlink' && before.objectId === objectId) return undefined;
    staging.addContent(file.path, target, objectId);
    return { path: file.path, mode: '120000', objectId };
  }
  const descriptor = open((directory) => openForReading(directory, name));
  try {
    const status = fstatSync(descriptor, { bigint: true });
    if (!status.isFile()) return undefined;
    const mode = (status.mode & 0o100n) === 0n ? '100644' : '100755';
    const objectId = await identify(collection, file.path, descriptor, status, staging);
    const sameMode = before?.kind === (mode === '100755' ? 'executable' : 'file');
    if (sameMode && before.objectId === objectId) return undefined;
    if (before?.objectId !== objectId) await staging.addFile(file.path, descriptor, Number(status.size), objectId);
    return { path: file.path, mode, objectId };
  } finally {
    closeSync(descriptor);
  }
}

async function identify(
  { memory, limits }: Collection,
  path: string,
  descriptor: number,
  status: BigIntStats,
  staging: Staging,
): Promise<string> {
  const stamp = [status.dev, status.ino, status.size, status.mtimeNs, status.ctimeNs].join(' ');
  const known = memory?.get(path);
  if (known?.stamp === stamp) return known.objectId;
  if (status.size > BigInt(limits.totalBytes) * 4n) tooLarge(`${show(path)} has ${status.size} bytes`);
  const objectId = await hashFile(descriptor, Number(status.size));
  if (objectId === undefined) return refuse('a file that changes while it is captured', path);
  if (staging.isSettled(status)) memory?.set(path, { stamp, objectId });
  else memory?.delete(path);
  return objectId;
}

interface Staging {
  addContent(path: string, content: Buffer, objectId: string): void;
  addFile(path: string, descriptor: number, sizeBytes: number, objectId: string): Promise<void>;
  /** Hands the staged contents to git. */
  writeObjects(): Promise<void>;
  /** Whether the file's times are so old that a later write must change them: a clock tick is at most 10 ms. */
  isSettled(status: BigIntStats): boolean;
}

/** Contents are staged under names of ours, so that git never opens a path of the workspace. */
function createStaging({ mirror, scratch, limits }: Collection): Staging {
  const directory = join(scratch, 'contents');
  mkdirSync(directory);
  const startedNs = statSync(directory, { bigint: true }).ctimeNs;
  const staged: { readonly file: string; readonly objectId: string }[] = [];
  let totalBytes = 0;
  const admit = (path: string, sizeBytes: number, objectId: string): string => {
    if (sizeBytes > limits.fileBytes) tooLarge(`${show(path)} has ${sizeBytes} bytes, more than ${limits.fileBytes}`);
    totalBytes += sizeBytes;
    if (totalBytes > limits.totalBytes)
      tooLarge(`the changed files have more than ${limits.totalBytes} bytes together`);
    const file = join(directory, String(staged.length));
    staged.push({ file, objectId });
    return file;
  };
  return {
    addContent: (path, content, objectId) =>
      writeFileSync(admit(path, content.length, objectId), content, { flag: 'wx' }),
    async addFile(path, descriptor, sizeBytes, objectId) {
      const copy = openSync(admit(path, sizeBytes, objectId), 'wx', 0o600);
      try {
        if ((await hashFile(descriptor, sizeBytes, copy)) !== objectId)
          refuse('a file that changes while it is captured', path);
      } finally {
        closeSync(copy);
      }
    },
    async writeObjects() {
      if (staged.length === 0) return;
      const input = staged.map(({ file }) => `${file}\n`).join('');
      await mirror.run({
        args: ['hash-object', '-t', 'blob', '-w', '--no-filters', '--stdin-paths'],
        input,
        timeLimitMs: 300_000,
      });
    },
    isSettled: ({ ctimeNs, mtimeNs }) => [ctimeNs, mtimeNs].every((time) => time < startedNs - 20_000_000n),
  };
}

function explainAccess<Result>(path: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
    if (code === 'EACCES' || code === 'EPERM') return refuse('a file that may not be read', path);
    if (code === 'ELOOP' || code === 'ENOTDIR' || code === 'ENOENT')
      return refuse('a path that changes while it is captured', path);
    throw error;
  }
}

function tooLarge(what: string): never {
  throw new FlotillaError(errors.changeTooLarge, { what });
}

function refuse(reason: string, path: string): never {
  throw new FlotillaError(errors.changeRefused, { reason, path: show(path) });
}

function show(path: string): string {
  return toVisibleText(Buffer.from(path, 'latin1'));
}
