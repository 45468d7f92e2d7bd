import type { ChangedFile } from '@flotilla/contracts/change';
import type { CommitId } from '@flotilla/contracts/ids';
import { describeBinaryChange } from './binary-diff.ts';
import type { MirrorReader } from './mirror.ts';
import { splitAtNul } from './read-tree.ts';
import { shareRoom } from './share-room.ts';
import { toVisibleText } from './visible-text.ts';

/** What a reviewer must not overlook about a file: it steers git itself, is no plain file, or may be run. */
export type DiffNote = 'git-settings' | 'symlink' | 'submodule' | 'executable' | 'binary';

export interface DiffedFile extends ChangedFile {
  readonly notes: readonly DiffNote[];
}

export interface CommitDiff {
  /** A unified diff in which nothing can hide: odd characters are escaped. For reading, not for `git apply`. */
  readonly text: string;
  /** Every changed file, also those whose text was cut. */
  readonly files: readonly DiffedFile[];
  /** Whether some of the text is missing; the text says where. */
  readonly truncated: boolean;
}

/** Options of every diff: nothing a tree or a configuration says changes what is compared or shown. */
export const plainDiff = [
  '--no-color',
  '--no-ext-diff',
  '--no-textconv',
  '--no-renames',
  '--full-index',
  '--no-abbrev',
  '--ignore-submodules=none',
  '--submodule=short',
  '--unified=3',
  '--inter-hunk-context=0',
  '--diff-algorithm=myers',
  '--indent-heuristic',
  '--src-prefix=a/',
  '--dst-prefix=b/',
] as const;

/**
 * Compares two commits for a reviewer. No attribute hides a file; one that holds NUL bytes is shown too, with the runs that
 * are no text summed up. `limitBytes` bounds the text; small files are shown whole before large ones are cut.
 */
export async function diffCommits(
  mirror: MirrorReader,
  from: CommitId,
  to: CommitId,
  { limitBytes }: { readonly limitBytes: number },
): Promise<CommitDiff> {
  const entries = await listEntries(mirror, from, to);
  const patch = await mirror.run({
    args: ['diff-tree', '-r', '-p', ...plainDiff, '--end-of-options', from, to],
    outputLimitBytes: Math.max(limitBytes * 8, 1024 * 1024),
    beyondOutputLimit: 'cut',
    timeLimitMs: 300_000,
  });
  const sections = toVisibleText(patch.stdout)
    .split(/^(?=diff --git )/m)
    .filter((section) => section !== '');
  for (const entry of entries
    .filter(
      ({ additions, newKind, oldKind }) => additions === null && newKind !== 'submodule' && oldKind !== 'submodule',
    )
    .slice(0, 40)) {
    sections.push(await describeBinaryChange(mirror, entry));
  }
  const shared = shareRoom(sections, limitBytes);
  return { text: shared.text, files: entries.map(toDiffedFile), truncated: shared.cut || patch.cut };
}

/** Lists what differs between two commits, with counts of lines. */
export async function listChangedFiles(
  mirror: MirrorReader,
  from: CommitId,
  to: CommitId,
): Promise<readonly ChangedFile[]> {
  const entries = await listEntries(mirror, from, to);
  return entries.map(({ path, status, additions, deletions }) => ({ path, status, additions, deletions }));
}

type EntryKind = 'absent' | 'file' | 'executable' | 'symlink' | 'submodule';

interface DiffEntry extends ChangedFile {
  readonly oldId: string;
  readonly newId: string;
  readonly oldKind: EntryKind;
  readonly newKind: EntryKind;
}

async function listEntries(mirror: MirrorReader, from: CommitId, to: CommitId): Promise<readonly DiffEntry[]> {
  const answer = await mirror.run({
    args: ['diff-tree', '-r', '-z', '--raw', '--numstat', ...plainDiff, '--end-of-options', from, to],
    outputLimitBytes: 256 * 1024 * 1024,
    timeLimitMs: 300_000,
  });
  return parseEntries(splitAtNul(answer.stdout));
}

/** First all raw records (`:modes ids status`, path), then all counts (`added<TAB>deleted<TAB>path`), in the same order. */
function parseEntries(fields: readonly Buffer[]): readonly DiffEntry[] {
  const raw = fields.filter((field, index) => index % 2 === 0 && field[0] === 0x3a);
  const counts = fields.slice(raw.length * 2).map((field) => field.toString('latin1').split('\t', 2));
  return raw.map((record, index) => {
    const [oldMode = '', newMode = '', oldId = '', newId = '', status = ''] = record
      .toString('latin1')
      .slice(1)
      .split(' ');
    const [added, deleted] = counts[index] ?? [];
    return {
      path: fields[index * 2 + 1]?.toString('utf8') ?? '',
      status: statuses[status[0] ?? ''] ?? 'modified',
      additions: toCount(added),
      deletions: toCount(deleted),
      oldId,
      newId,
      oldKind: kinds[oldMode] ?? 'file',
      newKind: kinds[newMode] ?? 'file',
    };
  });
}

const statuses: Readonly<Record<string, ChangedFile['status']>> = {
  A: 'added',
  D: 'deleted',
  T: 'type_changed',
  M: 'modified',
};

const kinds: Readonly<Record<string, EntryKind>> = {
  '000000': 'absent',
  '100644': 'file',
  '100755': 'executable',
  '120000': 'symlink',
  '160000': 'submodule',
};

function toCount(text: string | undefined): number | null {
  return text === undefined || text === '-' ? null : Number(text);
}

function toDiffedFile(entry: DiffEntry): DiffedFile {
  const { path, status, additions, deletions, oldKind, newKind } = entry;
  const notes: DiffNote[] = [];
  if (/(^|\/)\.(gitattributes|gitmodules|gitignore|lfsconfig|mailmap)$/i.test(path)) notes.push('git-settings');
  if (newKind === 'symlink') notes.push('symlink');
  if (newKind === 'submodule' || oldKind === 'submodule') notes.push('submodule');
  if (newKind === 'executable' && oldKind !== 'executable') notes.push('executable');
  if (additions === null) notes.push('binary');
  return { path, status, additions, deletions, notes };
}
