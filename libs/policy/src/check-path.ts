/** Longest path a call may name, in characters, and its longest segment; both are what Linux itself allows. */
const PATH_LIMIT = 4096;
const SEGMENT_LIMIT = 255;

/** Why a path is not a canonical workspace-relative path; undefined where it is. `.` is the workspace itself. */
export function whyNotCanonical(path: string): string | undefined {
  if (path === '.') return undefined;
  if (path.length === 0 || path.length > PATH_LIMIT) return `a path has 1 to ${PATH_LIMIT} characters`;
  if (!path.isWellFormed() || /[\p{Cc}\\]/u.test(path)) return 'a path has no control characters or backslashes';
  if (path.startsWith('/')) return 'a path is relative to the workspace';
  for (const segment of path.split('/')) {
    if (segment === '..') return 'a path does not leave the workspace';
    if (segment === '' || segment === '.') return 'a path has no empty or "." segments';
    if (segment.length > SEGMENT_LIMIT) return `a segment of a path has at most ${SEGMENT_LIMIT} characters`;
  }
  return undefined;
}

/** Characters that are not seen or that turn the direction of text: a name with them is not what it looks like. */
export function hasInvisibleCharacters(path: string): boolean {
  return invisible.test(path);
}

/** What chooses the look of an emoji (U+FE0F and its like) is told apart by what it stands on, and file names hold it. */
const invisible = /[[\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]--[\u{fe00}-\u{fe0f}]]/v;

/** A text as it may be shown to a person: what is not seen, or turns the direction of what is, written out. */
export function showText(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

/**
 * True where a segment is `.git` or a name that git itself treats as `.git` on some file system: other case, ignorable
 * characters (HFS+), trailing dots and spaces, streams and short names (NTFS). See git's path.c, is_ntfs_dotgit.
 */
export function reachesGitDirectory(path: string): boolean {
  return path.split('/').some((segment) => {
    const name = segment
      .normalize('NFKC')
      .replace(/[\p{Cf}\p{Mn}\p{Default_Ignorable_Code_Point}]/gu, '')
      .toLowerCase()
      .replace(/:.*$/s, '')
      .replace(/[. ]+$/, '');
    return name === '.git' || /^git~\d+$/.test(name);
  });
}
