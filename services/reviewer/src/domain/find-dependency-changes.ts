import type { Finding } from '@flotilla/contracts/change';

/** A file that says which packages a project needs: its text on the base and in the change, undefined where it is absent. */
export interface DependencyFile {
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

const names =
  /^(package\.json|package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|yarn\.lock|requirements[^/]*\.txt|pyproject\.toml|setup\.(py|cfg)|(uv|poetry|Pipfile)\.lock)$/;

/** Whether a path names such a file, at any depth. */
export function isDependencyFile(path: string): boolean {
  return !/(^|\/)node_modules\//.test(path) && names.test(path.slice(path.lastIndexOf('/') + 1));
}

/** The files that may name other packages than on the base. Of a package.json only what it needs counts. */
export function findDependencyChanges(files: readonly DependencyFile[]): readonly string[] {
  return files
    .filter(({ path, before, after }) => needsOf(path, before) !== needsOf(path, after))
    .map(({ path }) => path);
}

const needs = [
  'dependencies',
  'devDependencies',
  'optionalDependencies',
  'peerDependencies',
  'workspaces',
  'overrides',
];

function needsOf(path: string, text: string | undefined): string {
  if (text === undefined || !path.endsWith('package.json')) return text ?? '';
  try {
    const manifest: unknown = JSON.parse(text);
    const fields = typeof manifest === 'object' && manifest !== null ? Object.entries(manifest) : [];
    const wanted = fields.filter(([name]) => needs.includes(name)).toSorted(([a], [b]) => (a < b ? -1 : 1));
    return wanted.length === 0 ? '' : JSON.stringify(wanted);
  } catch {
    return text;
  }
}

const shownFiles = 5;

/** What author and approver have to know where a change needs other packages; nothing where it does not. */
export function noteDependencyChanges(paths: readonly string[], checks: 'passed' | 'failed'): readonly Finding[] {
  if (paths.length === 0) return [];
  const shown = paths.slice(0, shownFiles).map((path) => JSON.stringify(path.slice(0, 200)));
  const more = paths.length > shownFiles ? ` and ${paths.length - shownFiles} more` : '';
  const said = `The change names other packages (${shown.join(', ')}${more}). Checks run with what was installed for the base of the change; what a change adds is never installed before it has landed.`;
  const then = {
    passed: 'The checks passed without it.',
    failed:
      'A check that misses a package cannot pass: do without the package, or land its entry in the manifest and the lock file first, in a change that does not use it yet.',
  };
  const severity = checks === 'passed' ? 'warning' : 'critical';
  return [{ severity, text: `${said} ${then[checks]}` }];
}
