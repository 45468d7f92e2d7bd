/** Code points that HFS+ ignores in names (git's utf8.c, next_hfs_char). */
const ignoredByHfs = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/gu;

/**
 * Whether some file system takes the name for `.git`: any case, HFS+'s ignored code points, NTFS's short name `git~1`,
 * its ignored trailing dots and spaces, and its streams. The rules are those of git's own path verification.
 */
export function isGitLookalike(name: Buffer): boolean {
  const text = name.toString('utf8').replace(ignoredByHfs, '').toLowerCase();
  const first = text.split(/[\\:]/, 1)[0] ?? '';
  const bare = first.replace(/[ .]+$/, '');
  return bare === '.git' || bare === 'git~1';
}
