import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { workspacePath } from './container-options.ts';

const longestName = 255;
const longestPath = 4096;

/**
 * The components of a path that a caller names: relative to the workspace, or absolute below /workspace. `.` and repeated
 * slashes fall away; `..` is refused, because what it means depends on links. Throws PATH_REFUSED.
 */
export function parsePath(path: string): readonly string[] {
  if (Buffer.byteLength(path) > longestPath) throw pathRefused(path.slice(0, 80), 'it is too long');
  if (/[\p{Cc}\p{Cs}]/u.test(path)) throw pathRefused(path, 'it holds a control character');
  const components = belowWorkspace(path)
    .split('/')
    .filter((component) => component !== '' && component !== '.');
  for (const component of components) {
    if (component === '..') throw pathRefused(path, 'it holds a .. component');
    if (Buffer.byteLength(component) > longestName) throw pathRefused(path, 'a name in it is over 255 bytes');
  }
  return components;
}

/** As parsePath, for a path that will be written: the workspace itself, git's directory and invisible names are refused. */
export function parseWritablePath(path: string): readonly string[] {
  const components = parsePath(path);
  if (components.length === 0) throw pathRefused(path, 'it is the workspace itself');
  for (const component of components) {
    if (isGitName(component)) throw pathRefused(path, 'it is, or passes for, the directory of git');
    if (/[\p{Cf}\p{Zl}\p{Zp}]/u.test(component)) throw pathRefused(path, 'it holds an invisible character');
    if (/^\s|\s$/.test(component)) throw pathRefused(path, 'a name in it begins or ends with a space');
  }
  return components;
}

function belowWorkspace(path: string): string {
  if (!path.startsWith('/')) return path;
  if (path === workspacePath) return '';
  if (path.startsWith(`${workspacePath}/`)) return path.slice(workspacePath.length + 1);
  throw pathRefused(path, `it is not below ${workspacePath}`);
}

/**
 * Whether some file system takes a name for `.git`: case and invisible characters ignored (HFS+), the short name, trailing
 * dots and spaces and stream suffixes (NTFS), compatibility forms of the letters.
 */
export function isGitName(name: string): boolean {
  const folded = name
    .normalize('NFKC')
    .replace(/[\p{Cf}\p{Mn}\p{Cc}]/gu, '')
    .toLowerCase()
    .replace(/:.*$/s, '')
    .replace(/[. ]+$/, '');
  return /^(\.git|git~\d+)$/.test(folded);
}

/** A name as it may be shown: control, invisible and direction characters written out. */
export function showName(name: string): string {
  return name.replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

export function pathRefused(path: string, reason: string): FlotillaError {
  return new FlotillaError(errors.pathRefused, { path: showName(path), reason });
}
