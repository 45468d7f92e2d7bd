import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';

/** A branch name that git accepts, without `refs/heads/`. */
export type BranchName = string & { readonly __branchName: true };

const lengthLimitBytes = 240;

/** The rules of `git check-ref-format --branch`, as a pure function. Throws branchNameRefused. */
export function parseBranchName(name: string): BranchName {
  const reason = objectionTo(name);
  if (reason !== undefined)
    throw new FlotillaError(errors.branchNameRefused, { branch: JSON.stringify(name.slice(0, 100)), reason });
  // The checks above are what the brand stands for.
  return name as BranchName;
}

/** The full ref: nothing shorter is ever given to git. */
export function toBranchRef(branch: BranchName): string {
  return `refs/heads/${branch}`;
}

function objectionTo(name: string): string | undefined {
  if (name === '') return 'it is empty';
  if (Buffer.byteLength(name) > lengthLimitBytes) return `it has more than ${lengthLimitBytes} bytes`;
  if (name === 'HEAD') return 'HEAD is not a branch';
  if (name.startsWith('-')) return 'it starts with a hyphen';
  if (!name.isWellFormed()) return 'it is not well-formed text';
  if (/[\u0000-\u0020\u007f]/.test(name)) return 'it holds a space or a control character';
  if (/[~^:?*[\\]/.test(name)) return 'it holds one of ~ ^ : ? * [ \\';
  if (name.includes('..')) return 'it holds two dots in a row';
  if (name.includes('@{')) return 'it holds @{';
  if (name.endsWith('.')) return 'it ends in a dot';
  const components = name.split('/');
  if (components.some((component) => component === '')) return 'a part between slashes is empty';
  if (components.some((component) => component.startsWith('.'))) return 'a part starts with a dot';
  if (components.some((component) => component.endsWith('.lock'))) return 'a part ends in .lock';
  return undefined;
}
