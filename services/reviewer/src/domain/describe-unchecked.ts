import type { Finding } from '@flotilla/contracts/change';
import type { Outcome } from '@flotilla/contracts/outcome';
import type { Project } from '@flotilla/contracts/project';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';

/** A failed check goes back to the author; a project without checks goes to its owner, who alone can say what they are. */
export function describeUnchecked(
  checked: { readonly kind: 'failed'; readonly findings: readonly Finding[] } | { readonly kind: 'missing' },
  { name }: Pick<Project, 'name'>,
): Outcome {
  switch (checked.kind) {
    case 'failed':
      return {
        kind: 'changes_requested',
        findings: [...checked.findings],
        summary: 'A check of the project does not pass.',
      };
    case 'missing': {
      const { code, message, advice } = new FlotillaError(errors.checksNotFound, { project: name });
      return { kind: 'failed', code, message, advice };
    }
  }
}
