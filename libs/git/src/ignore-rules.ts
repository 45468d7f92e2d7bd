import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MirrorReader } from './mirror.ts';
import { splitAtNul, type TreeEntry } from './read-tree.ts';

/** What the `.gitignore` files of the workspace and of the base say about paths that are not tracked. Paths are latin1. */
export interface IgnoreRules {
  /** Tells of a directory that is walked, with the content and blob id of its `.gitignore` when it has one. */
  enterDirectory(
    path: string,
    ignoreFile: { readonly content: Buffer; readonly objectId: string } | undefined,
  ): Promise<void>;
  /** Judges names in entered directories. */
  findIgnored(paths: readonly CandidatePath[]): Promise<ReadonlySet<string>>;
}

export interface CandidatePath {
  readonly path: string;
  readonly isDirectory: boolean;
}

/**
 * Git itself judges (`check-ignore --no-index`), but in shadow directories that hold nothing but directories and copies of
 * `.gitignore` files, so that it never looks into the workspace. What the workspace's rules ignore is left out, and so is
 * what the base's rules ignore unless the workspace's rules name it with `!`: a `.gitignore` that was rewritten by mistake
 * brings no build output into a change.
 */
export function createIgnoreRules(mirror: MirrorReader, scratch: string, base: readonly TreeEntry[]): IgnoreRules {
  const ofWorkspace = createShadow(mirror, join(scratch, 'rules-workspace'));
  const ofBase = createShadow(mirror, join(scratch, 'rules-base'));
  const baseFiles = new Map(base.filter(isIgnoreFile).map((entry) => [directoryOf(entry.pathBytes), entry]));
  let sameSoFar = true;
  return {
    async enterDirectory(path, ignoreFile) {
      ofWorkspace.addDirectory(path);
      ofBase.addDirectory(path);
      if (ignoreFile !== undefined) ofWorkspace.addFile(path, ignoreFile.content);
      const baseFile = baseFiles.get(path);
      if (baseFile === undefined) return;
      if (baseFile.objectId !== ignoreFile?.objectId) sameSoFar = false;
      const content =
        ignoreFile?.objectId === baseFile.objectId ? ignoreFile.content : await readBlob(mirror, baseFile);
      ofBase.addFile(path, content);
    },
    async findIgnored(paths) {
      const verdicts = await ofWorkspace.judge(paths);
      const ignored = new Set([...verdicts].filter(([, verdict]) => verdict === 'ignored').map(([path]) => path));
      if (sameSoFar) return ignored;
      const open = paths.filter(({ path }) => !verdicts.has(path));
      for (const [path, verdict] of await ofBase.judge(open)) if (verdict === 'ignored') ignored.add(path);
      return ignored;
    },
  };
}

interface Shadow {
  addDirectory(path: string): void;
  addFile(directory: string, content: Buffer): void;
  /** No entry for a path that no rule speaks of. */
  judge(paths: readonly CandidatePath[]): Promise<ReadonlyMap<string, 'ignored' | 'kept'>>;
}

function createShadow(mirror: MirrorReader, root: string): Shadow {
  const at = (path: string): Buffer => Buffer.concat([Buffer.from(`${root}/`), Buffer.from(path, 'latin1')]);
  const addDirectory = (path: string): void => void mkdirSync(at(path), { recursive: true });
  return {
    addDirectory,
    addFile: (directory, content) =>
      writeFileSync(at(directory === '' ? '.gitignore' : `${directory}/.gitignore`), content),
    async judge(paths) {
      if (paths.length === 0) return new Map();
      for (const { path, isDirectory } of paths) if (isDirectory) addDirectory(path);
      const answer = await mirror.run({
        args: ['check-ignore', '--no-index', '--stdin', '-z', '--verbose', '--non-matching'],
        workTree: root,
        input: Buffer.concat(paths.map(({ path }) => Buffer.from(`./${path}\0`, 'latin1'))),
        accept: [0, 1],
        outputLimitBytes: 512 * 1024 * 1024,
        timeLimitMs: 120_000,
      });
      return readVerdicts(splitAtNul(answer.stdout));
    },
  };
}

/** A name that starts with a colon would be pathspec magic, hence `./`. Records of four fields: source, line, pattern, path; the first three are empty when no rule matches. */
function readVerdicts(fields: readonly Buffer[]): ReadonlyMap<string, 'ignored' | 'kept'> {
  const verdicts = new Map<string, 'ignored' | 'kept'>();
  for (let at = 0; at + 3 < fields.length; at += 4) {
    const pattern = fields[at + 2]?.toString('latin1') ?? '';
    const path = fields[at + 3]?.toString('latin1').slice('./'.length) ?? '';
    if (pattern !== '') verdicts.set(path, pattern.startsWith('!') ? 'kept' : 'ignored');
  }
  return verdicts;
}

async function readBlob(mirror: MirrorReader, entry: TreeEntry): Promise<Buffer> {
  return (await mirror.run({ args: ['cat-file', 'blob', entry.objectId] })).stdout;
}

function isIgnoreFile({ kind, pathBytes }: TreeEntry): boolean {
  return (kind === 'file' || kind === 'executable') && /(^|\/)\.gitignore$/.test(pathBytes);
}

function directoryOf(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf('/'), 0));
}
