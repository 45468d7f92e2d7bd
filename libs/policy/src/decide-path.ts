import type { GrantLimits } from '@flotilla/contracts/grants';
import { hasInvisibleCharacters, reachesGitDirectory, showText, whyNotCanonical } from './check-path.ts';
import { allow, refuse } from './decisions.ts';
import { compilePathPattern } from './path-pattern.ts';
import type { PolicyDecision } from './tool-call.ts';

/** What no grant permits, whatever its limits. */
export function decidePath(path: string, mutates: boolean): PolicyDecision {
  const shown = showPath(path);
  const reason = whyNotCanonical(path);
  if (reason !== undefined) return refuse('PATH_NOT_CANONICAL', `${shown} cannot be used: ${reason}`);
  if (mutates && hasInvisibleCharacters(path))
    return refuse('PATH_INVISIBLE_CHARACTERS', `${shown} has characters that are not seen`);
  if (mutates && path === '.')
    return refuse('PATH_PROTECTED', 'the workspace itself is not changed, only what is in it');
  if (mutates && reachesGitDirectory(path)) return refuse('PATH_PROTECTED', `${shown} belongs to git`);
  return allow(`${shown} is a path of the workspace`);
}

/** A path as it stands in a reason: in quotes, shortened. */
export function showPath(path: string): string {
  return `"${showText(path.length > 200 ? `${path.slice(0, 197)}...` : path)}"`;
}

/** A name that no pattern can spell: only wildcards match it. A walk may begin at `src` where it may reach `src/<any>`. */
const ANY_NAME = '\u0001';

/** Wants a canonical path. `names` is what the capability names, see `Capability`. */
export function decidePathInLimits(
  { id, names }: { readonly id: string; readonly names: 'file' | 'directory' | 'none' },
  { paths, exclude }: Pick<GrantLimits, 'paths' | 'exclude'>,
  path: string,
): PolicyDecision {
  const included = paths?.map(compilePathPattern);
  const excluded = exclude?.map(compilePathPattern) ?? [];
  if ([...(included ?? []), ...excluded].some(({ kind }) => kind === 'invalid'))
    return refuse('LIMIT_NOT_EVALUABLE', `the path limits of ${id} cannot be read`);
  const reached = names === 'directory' ? [path, `${path}/${ANY_NAME}`] : [path];
  if (excluded.some((pattern) => pattern.kind === 'pattern' && reached.some(pattern.covers)))
    return refuse('PATH_EXCLUDED', `${showPath(path)} is excluded from ${id}`);
  if (included?.some((pattern) => pattern.kind === 'pattern' && reached.some(pattern.matches)) === false)
    return refuse('PATH_OUTSIDE_GRANT', `${showPath(path)} is outside the paths of ${id}`);
  return allow(`${showPath(path)} is within the paths of ${id}`);
}
