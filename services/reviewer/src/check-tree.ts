import { findTestCommands } from '@flotilla/agent/find-test-commands';
import type { Change, Evidence, Finding } from '@flotilla/contracts/change';
import { ChecksPassed } from '@flotilla/contracts/events/step-events';
import type { TreeId } from '@flotilla/contracts/ids';
import { readEvent, type LogEntry } from '@flotilla/contracts/log-entry';
import type { Project } from '@flotilla/contracts/project';
import type { Base } from '@flotilla/contracts/step-request';
import { readTreeOf } from '@flotilla/git/read-tree';
import type { StepContext } from '@flotilla/host/step-work';
import type { StepOccasion, Workplace, Workplaces } from '@flotilla/workplace/workplaces';
import { bindWorkspace } from '@flotilla/workplace/workspace-port';
import { chooseChecks } from './domain/choose-checks.ts';
import { findDependencyChanges, noteDependencyChanges } from './domain/find-dependency-changes.ts';
import { judgeChecks, type ChecksVerdict } from './domain/judge-checks.ts';
import { readDependencyFiles } from './read-dependency-files.ts';
import { describeRun, runChecks, type CheckLimits } from './run-checks.ts';

export interface CheckRequest {
  readonly step: StepOccasion;
  readonly project: Project;
  readonly repository: string;
  readonly base: Base;
  readonly change: Change;
  readonly setupKey: string | null;
}

export type Checked =
  /** `notes`: what an approver has to know of how they passed. */
  | { readonly kind: 'passed'; readonly evidence: Evidence; readonly notes: readonly Finding[] }
  | { readonly kind: 'failed'; readonly findings: readonly Finding[] }
  /** The project has no checks that we know and its owner did not waive them. */
  | { readonly kind: 'missing' };

/**
 * Runs the project's checks in a clean slot without network on the exact tree of a change, and logs what is evidence. Evidence
 * that this attempt has logged already, before its process died, is taken as it is.
 */
export async function checkTree(
  workplaces: Pick<Workplaces, 'prepare'>,
  request: CheckRequest,
  context: StepContext,
  limits?: CheckLimits,
): Promise<Checked> {
  await using place = await workplaces.prepare(wantedPlace(request), context);
  const tree = await readTreeOf(place.mirror, request.change.commit);
  const dependencies = findDependencyChanges(await readDependencyFiles(place.mirror, request.change));
  const notes = noteDependencyChanges(dependencies, 'passed');
  const known = findKnown(await context.journal(), tree);
  if (known !== undefined) return { kind: 'passed', evidence: known, notes };

  const detected = await findTestCommands(request.project.checks, bindWorkspace(place));
  const chosen = chooseChecks(
    request.project,
    detected.map(({ command }) => command),
  );
  if (chosen.kind === 'missing') return { kind: 'missing' };
  const verdict = await runChosen(chosen.kind === 'run' ? chosen.commands : [], tree, place, context, limits);
  return verdict.kind === 'passed'
    ? { kind: 'passed', evidence: verdict.evidence, notes }
    : { kind: 'failed', findings: [verdict.finding, ...noteDependencyChanges(dependencies, 'failed')] };
}

/** A slot with the tree of the change, as the checks and the model review each get one of their own. */
export function wantedPlace({ step, repository, base, change, setupKey }: Omit<CheckRequest, 'project'>) {
  return { step, repository, commits: [base, change], lay: change.commit, setupKey };
}

async function runChosen(
  commands: readonly string[],
  tree: TreeId,
  place: Workplace,
  context: StepContext,
  limits: CheckLimits | undefined,
): Promise<ChecksVerdict> {
  const { slot } = place;
  const runs = await runChecks(place, commands, context, limits);
  const verdict = judgeChecks(tree, slot.image, runs);
  // With the verdict, so that a process that dies between the two does not run every check again.
  const last = runs.slice(-1).map(describeRun);
  switch (verdict.kind) {
    case 'passed':
      await context.log(...last, { type: 'checks.passed', payload: verdict.evidence });
      return verdict;
    case 'failed': {
      const { command, exitCode } = verdict.failed;
      await context.log(...last, {
        type: 'checks.failed',
        payload: { tree, image: slot.image, check: command, exitCode },
      });
      return verdict;
    }
  }
}

function findKnown(journal: readonly LogEntry[], tree: TreeId): Evidence | undefined {
  return journal.map((entry) => readEvent(entry, ChecksPassed)).findLast((evidence) => evidence?.tree === tree);
}
