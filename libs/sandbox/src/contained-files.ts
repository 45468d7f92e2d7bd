import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { parsePath, parseWritablePath, pathRefused } from './contained-path.ts';
import type { DirectoryHandle } from './directory-handle.ts';
import { errorCode } from './directory-handle.ts';
import type { TextEdit } from './edit-text.ts';
import { editText } from './edit-text.ts';
import type { FileKind } from './file-kind.ts';
import { kindOf } from './file-kind.ts';
import { findMember } from './find-member.ts';
import type { ListedEntry } from './list-directory.ts';
import { listDirectory } from './list-directory.ts';
import type { FileText, ReadOptions } from './read-file.ts';
import { openRegularFile, readBytes, readText } from './read-file.ts';
import { removeTree } from './remove-tree.ts';
import type { SandboxUser } from './sandbox-user.ts';
import { replaceFile } from './write-file.ts';

export interface FileFacts {
  readonly path: string;
  readonly kind: FileKind;
  readonly sizeBytes: number;
  readonly executable: boolean;
}

/** Default: links are followed as long as they stay inside the workspace. */
export interface LinkOptions {
  readonly followLinks?: boolean;
}

/**
 * The workspace's files, reached from outside the container. Paths are relative to the workspace, or absolute below
 * /workspace; results carry the canonical path that was worked on. Nothing is written or deleted through a link.
 * Throws PATH_REFUSED, FILE_MISSING, FILE_KIND_WRONG, FILE_TOO_LARGE, FILE_NOT_TEXT, EDIT_REFUSED.
 */
export interface ContainedFiles {
  /**
   * The canonical path, which is what a policy decides on. A policy that allowed it calls the operation with that path
   * and `followLinks: false`: a link put there in between is then refused.
   */
  resolve(path: string): string;
  stat(path: string, options?: LinkOptions): FileFacts | undefined;
  /** Default: the whole file up to 1 MiB. */
  read(path: string, options?: ReadOptions & LinkOptions): Promise<FileText>;
  /** Default limit: 16 MiB; a larger file is FILE_TOO_LARGE. */
  readBytes(path: string, options?: { readonly limitBytes?: number } & LinkOptions): Promise<Uint8Array>;
  /** Replaces the file in one step and makes missing directories. An existing file keeps its mode. */
  write(
    path: string,
    content: string | Uint8Array,
    options?: { readonly executable?: boolean },
  ): Promise<{ readonly path: string; readonly created: boolean; readonly bytes: number }>;
  /** Applies all edits or none; each must match exactly once unless it says `all`. */
  edit(path: string, edits: readonly TextEdit[]): Promise<{ readonly path: string; readonly replacements: number }>;
  /** A directory needs `recursive`. */
  delete(path: string, options?: { readonly recursive?: boolean }): Promise<{ readonly path: string }>;
  /** Sorted by name; at most `limit` entries, default 1000. */
  list(
    path: string,
    options?: { readonly limit?: number } & LinkOptions,
  ): Promise<{ readonly path: string; readonly entries: readonly ListedEntry[]; readonly truncated: boolean }>;
}

const wholeFileBytes = 16 * 1024 ** 2;

/** `root` stays open for as long as the files are used; files that are written belong to `user`. */
export function createContainedFiles(root: DirectoryHandle, user: SandboxUser): ContainedFiles {
  const files: ContainedFiles = {
    resolve: (path) =>
      translate(path, () => {
        using found = findMember(root, parsePath(path), true);
        return found.path;
      }),
    stat: (path, { followLinks = true } = {}) =>
      translate(path, () => {
        using found = findMember(root, parsePath(path), followLinks);
        if (found.kind === 'missing') return undefined;
        const facts = found.kind === 'root' ? root.statSelf() : found.facts;
        return {
          path: found.path,
          kind: kindOf(facts),
          sizeBytes: facts.size,
          executable: facts.isFile() && (facts.mode & 0o100) !== 0,
        };
      }),
    read: (path, { followLinks = true, ...options } = {}) =>
      translateAsync(path, async () => {
        await using file = openRegularFile(root, parsePath(path), followLinks);
        return await readText(file, options);
      }),
    readBytes: (path, { followLinks = true, limitBytes = wholeFileBytes } = {}) =>
      translateAsync(path, async () => {
        await using file = openRegularFile(root, parsePath(path), followLinks);
        return await readBytes(file, limitBytes);
      }),
    write: (path, content, { executable = false } = {}) =>
      translateAsync(path, async () => {
        const bytes = typeof content === 'string' ? Buffer.from(content) : content;
        if (bytes.length > wholeFileBytes) {
          throw new FlotillaError(errors.fileTooLarge, { path, sizeBytes: bytes.length, limitBytes: wholeFileBytes });
        }
        const components = parseWritablePath(path);
        const { created } = await replaceFile(root, components, bytes, { user, executable });
        return { path: components.join('/'), created, bytes: bytes.length };
      }),
    edit: (path, edits) =>
      translateAsync(path, async () => {
        const components = parseWritablePath(path);
        const before = await readForEdit(components);
        const { text, replacements } = editText(components.join('/'), before, edits);
        await replaceFile(root, components, Buffer.from(text), { user, executable: false });
        return { path: components.join('/'), replacements };
      }),
    delete: (path, { recursive = false } = {}) =>
      translateAsync(path, async () => {
        using found = findMember(root, parseWritablePath(path), false);
        if (found.kind !== 'member') throw new FlotillaError(errors.fileMissing, { path });
        if (found.facts.isDirectory() && !recursive) {
          throw new FlotillaError(errors.fileKindWrong, { path: found.path, kind: 'a directory', expected: 'a file' });
        }
        await removeTree(found.parent, found.name);
        return { path: found.path };
      }),
    list: (path, { limit = 1000, followLinks = true } = {}) =>
      translateAsync(path, async () => {
        using found = findMember(root, parsePath(path), followLinks);
        if (found.kind === 'missing') throw new FlotillaError(errors.fileMissing, { path });
        if (found.kind === 'root') return { path: found.path, ...listDirectory(root, limit) };
        if (!found.facts.isDirectory()) {
          throw new FlotillaError(errors.fileKindWrong, { path: found.path, kind: 'a file', expected: 'a directory' });
        }
        using directory = found.parent.openDirectory(found.name);
        return { path: found.path, ...listDirectory(directory, limit) };
      }),
  };
  return files;

  async function readForEdit(components: readonly string[]): Promise<string> {
    await using file = openRegularFile(root, components, false);
    const bytes = await readBytes(file, wholeFileBytes);
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch (error) {
      throw new FlotillaError(errors.fileNotText, { path: file.path }, { cause: error });
    }
  }
}

function translate<T>(path: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw ofSystemError(path, error);
  }
}

async function translateAsync<T>(path: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    throw ofSystemError(path, error);
  }
}

/** A tree that changes under the walk, or that the sandbox user has locked, is the caller's to see, not a fault of ours. */
function ofSystemError(path: string, error: unknown): unknown {
  switch (errorCode(error)) {
    case 'ENOENT':
      return new FlotillaError(errors.fileMissing, { path }, { cause: error });
    case 'ELOOP':
    case 'ENOTDIR':
    case 'EISDIR':
    case 'EINVAL':
    case 'ENOTEMPTY':
      return pathRefused(path, 'something in it was replaced while it was used');
    case 'EACCES':
    case 'EPERM':
      return pathRefused(path, 'the file system does not permit it');
    case 'ENXIO':
      return new FlotillaError(errors.fileKindWrong, { path, kind: 'a socket or a pipe', expected: 'a regular file' });
    default:
      return error;
  }
}
