import type { CommitId, TreeId } from '@flotilla/contracts/ids';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import type { MirrorReader } from './mirror.ts';
import { readTreeId } from './object-id.ts';
import { toVisibleText } from './visible-text.ts';

export interface TreeEntry {
  /** For people: escaped, so two odd names may look alike. */
  readonly path: string;
  /** The name's bytes, in latin1: equal exactly when the names are. */
  readonly pathBytes: string;
  readonly kind: 'file' | 'executable' | 'symlink' | 'submodule';
  readonly mode: string;
  readonly objectId: string;
  /** Null for a submodule. */
  readonly sizeBytes: number | null;
}

/** Lists every file of a commit's tree, sorted as git sorts. */
export async function listTree(mirror: MirrorReader, commit: CommitId): Promise<readonly TreeEntry[]> {
  const answer = await mirror.run({
    args: ['ls-tree', '-r', '-z', '--long', '--full-tree', '--end-of-options', commit],
    outputLimitBytes: 512 * 1024 * 1024,
    timeLimitMs: 300_000,
  });
  return splitAtNul(answer.stdout).map(parseEntry);
}

/** Reads one file of a commit; undefined when it is absent or no file. Throws COMMITTED_FILE_TOO_LARGE. */
export async function readFileAt(
  mirror: MirrorReader,
  request: { readonly commit: CommitId; readonly path: string; readonly limitBytes: number },
): Promise<Buffer | undefined> {
  const { commit, path, limitBytes } = request;
  if (path === '' || /[\0\n]/.test(path)) return undefined;
  const listed = await mirror.run({
    args: ['ls-tree', '-z', '--long', '--full-tree', '--end-of-options', commit, '--', path],
    variables: { GIT_LITERAL_PATHSPECS: '1' },
  });
  const entry = splitAtNul(listed.stdout).map(parseEntry)[0];
  if (entry === undefined || !entry.mode.startsWith('100')) return undefined;
  if ((entry.sizeBytes ?? 0) > limitBytes)
    throw new FlotillaError(errors.committedFileTooLarge, { path: entry.path, limitBytes });
  const blob = await mirror.run({ args: ['cat-file', 'blob', entry.objectId], outputLimitBytes: limitBytes + 1 });
  return blob.stdout;
}

/** The tree of a commit. */
export async function readTreeOf(mirror: MirrorReader, commit: CommitId): Promise<TreeId> {
  const answer = await mirror.run({ args: ['rev-parse', '--verify', '--end-of-options', `${commit}^{tree}`] });
  return readTreeId(answer.stdout.toString('utf8'));
}

/** Splits what git prints with `-z` without decoding it. */
export function splitAtNul(bytes: Buffer): readonly Buffer[] {
  const parts: Buffer[] = [];
  let start = 0;
  for (let end = bytes.indexOf(0); end >= 0; end = bytes.indexOf(0, start)) {
    parts.push(bytes.subarray(start, end));
    start = end + 1;
  }
  if (start < bytes.length) parts.push(bytes.subarray(start));
  return parts;
}

const kinds: Readonly<Record<string, TreeEntry['kind']>> = {
  '100644': 'file',
  '100664': 'file',
  '100755': 'executable',
  '120000': 'symlink',
  '160000': 'submodule',
};

function parseEntry(record: Buffer): TreeEntry {
  const tab = record.indexOf(9);
  const [mode = '', , objectId = '', size = ''] = record.subarray(0, tab).toString('latin1').split(/ +/);
  const name = record.subarray(tab + 1);
  return {
    path: toVisibleText(name),
    pathBytes: name.toString('latin1'),
    kind: kinds[mode] ?? 'file',
    mode,
    objectId,
    sizeBytes: size === '-' ? null : Number(size),
  };
}
