import { showPath } from './decide-path.ts';

export interface DeclaredWorkspace {
  /** Absolute path of the workspace. */
  readonly root: string;
  /** Symbolic links below the root: workspace-relative path to target, as `readlink` tells it. */
  readonly links: ReadonlyMap<string, string>;
}

export type ResolvedPath =
  { readonly kind: 'resolved'; readonly path: string } | { readonly kind: 'refused'; readonly reason: string };

/** As many as Linux follows. */
const LINKS_LIMIT = 40;

/**
 * The canonical workspace-relative path of a path as a model writes it, on a workspace that is only described. As a slot does: an
 * absolute path below the root counts from there; `..` and a slash at the end are refused, since what they mean depends on what is
 * there; links are followed, also the last, and must not lead out.
 */
export function resolveDeclaredPath(written: string, { root, links }: DeclaredWorkspace): ResolvedPath {
  const refuse = (reason: string): ResolvedPath => ({ kind: 'refused', reason: `${showPath(written)} ${reason}` });
  const relative = belowRoot(written, root);
  if (relative === undefined) return refuse('is outside the workspace');
  if (relative.endsWith('/') && relative !== '') return refuse('ends with a slash');
  const rest = relative.split('/').reverse();
  if (rest.includes('..')) return refuse('holds a ".." segment');
  const walked: string[] = [];
  let followed = 0;
  for (let segment = rest.pop(); segment !== undefined; segment = rest.pop()) {
    if (segment === '' || segment === '.') continue;
    if (segment === '..') {
      if (walked.pop() === undefined) return refuse('leads out of the workspace by a link');
      continue;
    }
    const target = links.get([...walked, segment].join('/'));
    if (target === undefined) {
      walked.push(segment);
      continue;
    }
    followed += 1;
    if (followed > LINKS_LIMIT) return refuse('goes through too many links');
    const within = belowRoot(target, root);
    if (within === undefined) return refuse('leads out of the workspace by a link');
    if (target.startsWith('/')) walked.length = 0;
    rest.push(...within.split('/').reverse());
  }
  return { kind: 'resolved', path: walked.length === 0 ? '.' : walked.join('/') };
}

function belowRoot(path: string, root: string): string | undefined {
  if (!path.startsWith('/')) return path;
  if (path === root) return '';
  return path.startsWith(`${root}/`) ? path.slice(root.length + 1) : undefined;
}
