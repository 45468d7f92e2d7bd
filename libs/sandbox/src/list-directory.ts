import { showName } from './contained-path.ts';
import type { DirectoryHandle } from './directory-handle.ts';
import type { FileKind } from './file-kind.ts';
import { kindOf } from './file-kind.ts';

export interface ListedEntry {
  /** Safe to show: control and invisible characters are written out. */
  readonly name: string;
  readonly kind: FileKind;
  readonly sizeBytes: number;
  /** Where a link points, as it says itself. */
  readonly target?: string;
}

/** How many names are looked at to find the first ones in order. */
const mostLookedAt = 20_000;

export function listDirectory(
  directory: DirectoryHandle,
  limit: number,
): { readonly entries: readonly ListedEntry[]; readonly truncated: boolean } {
  const names: Buffer[] = [];
  let cut = false;
  for (const name of directory.members()) {
    cut = names.length >= mostLookedAt;
    if (cut) break;
    names.push(name);
  }
  names.sort(Buffer.compare);
  const entries = names.slice(0, limit).flatMap((name) => describeEntry(directory, name) ?? []);
  return { entries, truncated: cut || names.length > limit };
}

function describeEntry(directory: DirectoryHandle, name: Buffer): ListedEntry | undefined {
  const facts = directory.stat(name);
  if (facts === undefined) return undefined;
  const entry = { name: showName(name.toString()), kind: kindOf(facts), sizeBytes: facts.isFile() ? facts.size : 0 };
  if (!facts.isSymbolicLink()) return entry;
  try {
    return { ...entry, target: showName(directory.readLink(name)) };
  } catch {
    return entry;
  }
}
