import { setImmediate as nextTurn } from 'node:timers/promises';
import { dependencyDirectories } from '@flotilla/contracts/dependency-directories';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { isGitLookalike } from './git-lookalike.ts';
import type { IgnoreRules } from './ignore-rules.ts';
import { listDirectory, type DirectoryEntry } from './list-directory.ts';
import { withDirectory } from './open-beneath.ts';
import type { TreeEntry } from './read-tree.ts';
import { toVisibleText } from './visible-text.ts';

export interface WalkRequest {
  /** Descriptor of the workspace's root. */
  readonly root: number;
  readonly base: readonly TreeEntry[];
  readonly rules: IgnoreRules;
  /** Paths from the root that count as ignored, in latin1: what the setup laid. */
  readonly exclude: ReadonlySet<string>;
  readonly entryLimit: number;
}

/** A file or link that belongs to the workspace's tree; the path's bytes in latin1. */
export interface WalkedFile {
  readonly path: string;
  readonly kind: 'file' | 'link';
}

export interface Walk {
  readonly files: readonly WalkedFile[];
  /** Submodules of the base that are still an empty directory, in latin1. */
  readonly submodules: ReadonlySet<string>;
}

const pathLimitBytes = 3000;
/** Each level costs a question to git about what it ignores. */
const deepest = 100;

/**
 * Lists what `git add --all` would take from the workspace, level by level, on descriptors that follow no link. The root's
 * own `.git` is passed over; any other name that git or a file system takes for `.git` is refused, and so is content inside
 * a submodule. Ignored directories, and those that package managers fill, are not entered. Throws changeRefused and changeTooLarge.
 */
export async function walkWorkspace(request: WalkRequest): Promise<Walk> {
  const tracked = indexBase(request.base);
  const files: WalkedFile[] = [];
  const submodules = new Set<string>();
  let room = request.entryLimit;
  let level: readonly string[] = [''];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > deepest) refuse(`directories nested more than ${deepest} deep`, `${level[0]?.slice(0, 200)}…`);
    const entered: string[] = [];
    const untracked: Found[] = [];
    for (const directory of level) {
      await nextTurn();
      const found = await enterDirectory(request, directory, room);
      room -= found.length;
      for (const entry of found) {
        if (tracked.submodules.has(entry.path) && entry.kind === 'directory') {
          if (!isEmpty(request.root, entry.path)) refuse('content inside a submodule', entry.path);
          submodules.add(entry.path);
        } else if (entry.kind === 'directory' && tracked.directories.has(entry.path)) entered.push(entry.path);
        else if (entry.kind !== 'directory' && tracked.files.has(entry.path)) files.push(entry);
        else if (!isDependencyDirectory(entry) && !isExcluded(request.exclude, entry.path)) untracked.push(entry);
      }
    }
    const candidates = untracked.map(({ path, kind }) => ({ path, isDirectory: kind === 'directory' }));
    const ignored = await request.rules.findIgnored(candidates);
    for (const entry of untracked) {
      if (ignored.has(entry.path)) continue;
      if (entry.kind === 'directory') entered.push(entry.path);
      else files.push(entry);
    }
    level = entered;
  }
  return { files, submodules };
}

type Found =
  { readonly path: string; readonly kind: 'directory' } | { readonly path: string; readonly kind: 'file' | 'link' };

async function enterDirectory(request: WalkRequest, directory: string, room: number): Promise<readonly Found[]> {
  const listing = withDirectory(request.root, namesOf(directory), (descriptor) => listDirectory(descriptor, room));
  if (listing.kind === 'too-many') {
    throw new FlotillaError(errors.changeTooLarge, {
      what: `the workspace has more than ${request.entryLimit} entries that are not ignored`,
    });
  }
  await request.rules.enterDirectory(directory, listing.ignoreFile);
  const judged = listing.entries.filter(({ name }) => directory !== '' || !name.equals(ownRepository));
  return judged.map((entry) => locate(directory, entry));
}

const ownRepository = Buffer.from('.git');

function locate(directory: string, { name, kind }: DirectoryEntry): Found {
  const path = directory === '' ? name.toString('latin1') : `${directory}/${name.toString('latin1')}`;
  if (isGitLookalike(name)) refuse('a name that git takes for a repository of its own', path);
  if (path.length > pathLimitBytes) refuse(`a path of more than ${pathLimitBytes} bytes`, `${path.slice(0, 200)}…`);
  return { path, kind };
}

/** The names of a latin1 path. */
export function namesOf(path: string): readonly Buffer[] {
  return path === '' ? [] : path.split('/').map((name) => Buffer.from(name, 'latin1'));
}

function indexBase(base: readonly TreeEntry[]) {
  const files = new Set<string>();
  const directories = new Set<string>();
  const submodules = new Set<string>();
  for (const { pathBytes, kind } of base) {
    (kind === 'submodule' ? submodules : files).add(pathBytes);
    for (let end = pathBytes.lastIndexOf('/'); end > 0; end = pathBytes.lastIndexOf('/', end - 1)) {
      const directory = pathBytes.slice(0, end);
      if (directories.has(directory)) break;
      directories.add(directory);
    }
  }
  return { files, directories, submodules };
}

function isDependencyDirectory({ path, kind }: Found): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return kind === 'directory' && dependencyDirectories.some((directory) => directory === name);
}

function isExcluded(exclude: ReadonlySet<string>, path: string): boolean {
  if (exclude.size === 0) return false;
  if (exclude.has(path)) return true;
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
    if (exclude.has(path.slice(0, end))) return true;
  }
  return false;
}

function isEmpty(root: number, path: string): boolean {
  const listing = withDirectory(root, namesOf(path), (descriptor) => listDirectory(descriptor, 1));
  return listing.kind === 'listed' && listing.entries.length === 0;
}

function refuse(reason: string, path: string): never {
  throw new FlotillaError(errors.changeRefused, { reason, path: toVisibleText(Buffer.from(path, 'latin1')) });
}
