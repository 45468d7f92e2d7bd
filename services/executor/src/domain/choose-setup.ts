/** What a look at the project's files found. */
export type DetectedSetup =
  | { readonly kind: 'none' }
  | { readonly kind: 'commands'; readonly commands: readonly string[]; readonly lockFiles: readonly string[] }
  | { readonly kind: 'unsupported'; readonly reason: string };

export type ChosenSetup =
  | { readonly kind: 'skipped' }
  | { readonly kind: 'none' }
  | {
      readonly kind: 'run';
      readonly commands: readonly string[];
      /** Files whose content decides whether an earlier result can be used again; `tree`: nothing short of all of them. */
      readonly dependsOn: readonly string[] | 'tree';
    }
  | { readonly kind: 'unsupported'; readonly reason: string };

/**
 * The task's wish comes first, then the project's own commands, then what was detected. Commands of a project's own may read
 * any file: their result is used again only where the known lock files say what they install.
 */
export function chooseSetup(
  skip: boolean,
  declared: readonly string[] | undefined,
  detected: DetectedSetup,
): ChosenSetup {
  if (skip) return { kind: 'skipped' };
  if (declared === undefined) {
    return detected.kind === 'commands'
      ? { kind: 'run', commands: detected.commands, dependsOn: detected.lockFiles }
      : detected;
  }
  if (declared.length === 0) return { kind: 'none' };
  const dependsOn = detected.kind === 'commands' && detected.lockFiles.length > 0 ? detected.lockFiles : 'tree';
  return { kind: 'run', commands: declared, dependsOn };
}
