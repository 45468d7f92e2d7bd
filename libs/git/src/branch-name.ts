import { whyBranchRefused } from '@flotilla/contracts/branch-name';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';

/** A branch name that git accepts, without `refs/heads/`. */
export type BranchName = string & { readonly __branchName: true };

/** The rules of `git check-ref-format --branch`, as a pure function. Throws branchNameRefused. */
export function parseBranchName(name: string): BranchName {
  const reason = whyBranchRefused(name);
  if (reason !== undefined)
    throw new FlotillaError(errors.branchNameRefused, { branch: JSON.stringify(name.slice(0, 100)), reason });
  // The checks above are what the brand stands for.
  return name as BranchName;
}

/** The full ref: nothing shorter is ever given to git. */
export function toBranchRef(branch: BranchName): string {
  return `refs/heads/${branch}`;
}
