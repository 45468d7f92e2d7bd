import type { Project } from '@flotilla/contracts/project';

export type ChosenChecks =
  | { readonly kind: 'run'; readonly commands: readonly string[] }
  /** The owner accepts changes that nothing has tested. */
  | { readonly kind: 'unchecked' }
  | { readonly kind: 'missing' };

/** What the project declares, else what its owner waived, else what was detected; an absence of checks never passes by itself. */
export function chooseChecks(
  { checks, unchecked }: Pick<Project, 'checks' | 'unchecked'>,
  detected: readonly string[],
): ChosenChecks {
  if (checks.length > 0) return { kind: 'run', commands: checks };
  if (unchecked) return { kind: 'unchecked' };
  return detected.length > 0 ? { kind: 'run', commands: detected } : { kind: 'missing' };
}
