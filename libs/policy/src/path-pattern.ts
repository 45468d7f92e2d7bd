import picomatch from 'picomatch';

const PATTERN_LIMIT = 256;
/** Backtracking grows with the power of the stars in one segment; three on 255 characters stay under some ten ms. */
const STARS_LIMIT = 3;

const GLOBSTAR = '**';

export type PathPattern = (path: string) => boolean;
export type CompiledPattern =
  | {
      readonly kind: 'pattern';
      readonly matches: PathPattern;
      /** True where the pattern matches the path or a directory above it. */
      readonly covers: PathPattern;
    }
  | { readonly kind: 'invalid'; readonly reason: string };

/**
 * Compiles a glob of workspace paths: `*` and `?` stay within a segment, `**` is a segment of its own and stands for any
 * number of segments, `{a,b}` and `[a-z]` are read within a segment; case counts and dot files are files.
 * `src/**` reaches what is below `src`, not `src` itself. Wants canonical paths (see `whyNotCanonical`), which are short.
 */
export function compilePathPattern(glob: string): CompiledPattern {
  const reason = whyInvalid(glob);
  if (reason !== undefined) return { kind: 'invalid', reason };
  const segments = glob.split('/').map((segment) => (segment === GLOBSTAR ? GLOBSTAR : compileSegment(segment)));
  // A globstar may stand for no segment; at the end it wants one, so that `src/**` is not `src`.
  if (segments.at(-1) === GLOBSTAR) segments.push(() => true);
  return {
    kind: 'pattern',
    matches: (path) => matchSegments(segments, path.split('/')).at(-1) === true,
    covers: (path) => matchSegments(segments, path.split('/')).includes(true),
  };
}

function whyInvalid(glob: string): string | undefined {
  if (glob.length === 0 || glob.length > PATTERN_LIMIT) return `a pattern has 1 to ${PATTERN_LIMIT} characters`;
  if (/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(glob)) return 'a pattern has no control or invisible characters';
  if (glob.includes('\\')) return 'a pattern has no backslash';
  if (glob.startsWith('!')) return 'a pattern is not negated; use exclude';
  if (/[()|]/.test(glob)) return 'a pattern has no parentheses or bars';
  if (glob.includes('..')) return 'a pattern has no ".."';
  if (/[{[][^}\]]*\//.test(glob)) return 'braces and brackets stay within one segment';
  // Read as plain text, a broken one would match nothing, and an exclude that matches nothing is no limit.
  if (/[[\]{}]/.test(glob.replaceAll(/\[[^[\]{}]+\]/g, '').replaceAll(/\{[^{}]*,[^{}]*\}/g, '')))
    return 'braces and brackets are closed, are not nested and hold alternatives';
  const segments = glob.split('/');
  if (segments.some((segment) => segment !== segment.trim())) return 'no name begins or ends with a space';
  if (segments.some((segment) => segment === '' || segment === '.'))
    return 'a pattern is a relative path without "." or empty segments';
  if (segments.some((segment) => segment !== GLOBSTAR && segment.includes(GLOBSTAR)))
    return '"**" is a segment of its own';
  if (segments.some((segment) => segment !== GLOBSTAR && segment.split('*').length - 1 > STARS_LIMIT)) {
    return `a segment has at most ${STARS_LIMIT} stars`;
  }
  return undefined;
}

function compileSegment(segment: string): PathPattern {
  // picomatch takes `!` for a character of the class.
  return picomatch(segment.replaceAll('[!', '[^'), {
    dot: true,
    nocase: false,
    noextglob: true,
    nonegate: true,
    regex: false,
    maxLength: PATTERN_LIMIT,
  });
}

/** Whether the pattern ends after each segment of the path: linear in both, whatever the globstars. */
function matchSegments(
  pattern: readonly (PathPattern | typeof GLOBSTAR)[],
  path: readonly string[],
): readonly boolean[] {
  let reached = skipGlobstars(pattern, new Set([0]));
  return path.map((segment) => {
    const next = new Set<number>();
    for (const place of reached) {
      const part = pattern[place];
      if (part === GLOBSTAR) next.add(place);
      else if (part?.(segment) === true) next.add(place + 1);
    }
    reached = skipGlobstars(pattern, next);
    return reached.has(pattern.length);
  });
}

function skipGlobstars(pattern: readonly (PathPattern | typeof GLOBSTAR)[], from: ReadonlySet<number>): Set<number> {
  const reached = new Set(from);
  for (const [place, part] of pattern.entries()) {
    if (part === GLOBSTAR && reached.has(place)) reached.add(place + 1);
  }
  return reached;
}
