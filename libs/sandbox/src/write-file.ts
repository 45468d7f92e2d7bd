import fs from 'node:fs';
import { promisify } from 'node:util';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { pathRefused, showName } from './contained-path.ts';
import type { DirectoryHandle } from './directory-handle.ts';
import { errorCode } from './directory-handle.ts';
import { describeKind } from './file-kind.ts';
import type { SandboxUser } from './sandbox-user.ts';

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = fs.constants;
const writeAsync = promisify(fs.write);

/**
 * Puts a new file in the place of the old by rename, in a directory that stays open: a link, a hard link or a pipe that
 * stands or appears there is never written to. Missing directories are made.
 */
export async function replaceFile(
  root: DirectoryHandle,
  components: readonly string[],
  content: Uint8Array,
  { user, executable }: { readonly user: SandboxUser; readonly executable: boolean },
): Promise<{ readonly created: boolean }> {
  const path = components.join('/');
  const name = components.at(-1);
  if (name === undefined) throw pathRefused(path, 'it is the workspace itself');
  using parent = openParents(root, components.slice(0, -1), user);
  const existing = parent.stat(name);
  if (existing) refuseUnlessReplaceable(parent, name, existing, path);
  const mode = existing ? existing.mode & 0o777 : executable ? 0o755 : 0o644;
  const temporary = await writeTemporary(parent, content, mode, user);
  try {
    parent.rename(temporary, parent, name);
  } catch (error) {
    parent.unlink(temporary);
    throw error;
  }
  return { created: existing === undefined };
}

function refuseUnlessReplaceable(parent: DirectoryHandle, name: string, facts: fs.Stats, path: string): void {
  if (facts.isSymbolicLink()) {
    throw pathRefused(path, `it is a symbolic link to ${showName(parent.readLink(name))}`);
  }
  if (!facts.isFile()) {
    throw new FlotillaError(errors.fileKindWrong, { path, kind: describeKind(facts), expected: 'a regular file' });
  }
  if (facts.nlink > 1) throw pathRefused(path, 'the file has another name (a hard link)');
}

function openParents(root: DirectoryHandle, components: readonly string[], user: SandboxUser): DirectoryHandle {
  let current = root.duplicate();
  for (const [depth, name] of components.entries()) {
    using parent = current;
    const facts = parent.stat(name);
    if (facts?.isSymbolicLink()) {
      const link = components.slice(0, depth + 1).join('/');
      throw pathRefused(components.join('/'), `${link} is a symbolic link to ${showName(parent.readLink(name))}`);
    }
    if (facts && !facts.isDirectory()) {
      const path = components.slice(0, depth + 1).join('/');
      throw new FlotillaError(errors.fileKindWrong, { path, kind: describeKind(facts), expected: 'a directory' });
    }
    if (!facts) makeDirectory(parent, name);
    current = parent.openDirectory(name);
    if (!facts) current.chown(user);
  }
  return current;
}

function makeDirectory(parent: DirectoryHandle, name: string): void {
  try {
    parent.makeDirectory(name);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}

async function writeTemporary(
  parent: DirectoryHandle,
  content: Uint8Array,
  mode: number,
  user: SandboxUser,
): Promise<string> {
  const { name, fd } = createTemporary(parent);
  try {
    for (let at = 0; at < content.length;) {
      at += (await writeAsync(fd, content, at, content.length - at, at)).bytesWritten;
    }
    fs.fchownSync(fd, user.uid, user.gid);
    fs.fchmodSync(fd, mode);
    return name;
  } catch (error) {
    parent.unlink(name);
    throw error;
  } finally {
    fs.closeSync(fd);
  }
}

function createTemporary(parent: DirectoryHandle): { readonly name: string; readonly fd: number } {
  for (let number = 1; ; number += 1) {
    const name = `.flotilla-writing-${number}`;
    try {
      return { name, fd: fs.openSync(parent.memberPath(name), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600) };
    } catch (error) {
      if (errorCode(error) !== 'EEXIST' || number >= 100) throw error;
    }
  }
}
