import type fs from 'node:fs';
import { workspacePath } from './container-options.ts';
import { pathRefused, showName } from './contained-path.ts';
import type { DirectoryHandle } from './directory-handle.ts';
import { errorCode } from './directory-handle.ts';

/** Where a path leads. `path` is canonical: relative to the workspace, without links; `.` is the workspace itself. */
export type Found = Disposable & { readonly path: string } & (
    | { readonly kind: 'root' }
    | { readonly kind: 'missing' }
    | { readonly kind: 'member'; readonly parent: DirectoryHandle; readonly name: string; readonly facts: fs.Stats }
  );

const mostDetours = 40;

/**
 * Walks a path one component at a time on open directories. A link is refused, or, with `followLinks`, replaced by its
 * target and walked the same way: `..` goes back along the directories that are open, an absolute target counts from
 * /workspace, and whatever would leave the workspace is refused. Throws PATH_REFUSED. `root` stays the caller's; the result is
 * to be disposed of.
 */
export function findMember(root: DirectoryHandle, components: readonly string[], followLinks: boolean): Found {
  const asked = components.join('/');
  const pending = [...components];
  const opened: { readonly directory: DirectoryHandle; readonly name: string }[] = [];
  let detours = 0;

  const current = () => opened.at(-1)?.directory ?? root;
  const pathTo = (...names: readonly string[]) => [...opened.map(({ name }) => name), ...names].join('/') || '.';
  const leave = () => opened.pop()?.directory[Symbol.dispose]();
  const close = () => {
    while (opened.length > 0) leave();
  };
  const takeDetour = () => {
    detours += 1;
    if (detours > mostDetours) throw pathRefused(asked, 'it leads through too many symbolic links');
  };

  try {
    for (let name = pending.shift(); name !== undefined; name = pending.shift()) {
      if (name === '..') {
        if (opened.length === 0) throw pathRefused(asked, 'a symbolic link in it leads out of the workspace');
        leave();
        continue;
      }
      const facts = current().stat(name);
      if (facts === undefined) return { kind: 'missing', path: pathTo(name, ...pending), [Symbol.dispose]: close };
      if (facts.isSymbolicLink()) {
        takeDetour();
        const target = readLink(current(), name);
        if (!followLinks)
          throw pathRefused(asked, `${showName(pathTo(name))} is a symbolic link to ${showName(target)}`);
        if (target.startsWith('/')) close();
        pending.unshift(...linkComponents(asked, target));
        continue;
      }
      if (pending.length === 0) {
        return { kind: 'member', parent: current(), name, facts, path: pathTo(name), [Symbol.dispose]: close };
      }
      if (!facts.isDirectory()) return { kind: 'missing', path: pathTo(name, ...pending), [Symbol.dispose]: close };
      const next = openUnlessSwapped(current(), name);
      if (next) opened.push({ directory: next, name });
      else {
        takeDetour();
        pending.unshift(name);
      }
    }
    return ofOpenDirectory();
  } catch (error) {
    close();
    throw error;
  }

  /** The path ended in a link to `.` or in a `..` of one. */
  function ofOpenDirectory(): Found {
    const last = opened.at(-1);
    if (last === undefined) return { kind: 'root', path: '.', [Symbol.dispose]: close };
    const parent = opened.at(-2)?.directory ?? root;
    const facts = last.directory.statSelf();
    return { kind: 'member', parent, name: last.name, facts, path: pathTo(), [Symbol.dispose]: close };
  }
}

function linkComponents(asked: string, target: string): readonly string[] {
  if (/\p{Cc}/u.test(target)) throw pathRefused(asked, 'a symbolic link in it holds a control character');
  const inside = target === workspacePath || target.startsWith(`${workspacePath}/`);
  if (target.startsWith('/') && !inside) throw pathRefused(asked, `a symbolic link in it leads to ${showName(target)}`);
  const relative = target.startsWith('/') ? target.slice(workspacePath.length) : target;
  return relative.split('/').filter((component) => component !== '' && component !== '.');
}

/** The link's text; its own name when it stopped being a link since it was looked at, so that the walk looks again. */
function readLink(directory: DirectoryHandle, name: string): string {
  try {
    return directory.readLink(name);
  } catch (error) {
    if (errorCode(error) === 'EINVAL' || errorCode(error) === 'ENOENT') return name;
    throw error;
  }
}

function openUnlessSwapped(directory: DirectoryHandle, name: string): DirectoryHandle | undefined {
  try {
    return directory.openDirectory(name);
  } catch (error) {
    if (['ENOTDIR', 'ELOOP', 'ENOENT'].includes(errorCode(error) ?? '')) return undefined;
    throw error;
  }
}
