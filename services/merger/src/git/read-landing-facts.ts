import type { Change } from '@flotilla/contracts/change';
import type { CommitId } from '@flotilla/contracts/ids';
import type { LandStepRequested } from '@flotilla/contracts/messages/land-step-requested';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { listChangedFiles } from '@flotilla/git/diff';
import { diffIdentity } from '@flotilla/git/diff-identity';
import { findLanded, readHead } from '@flotilla/git/landing';
import { mergeOnto } from '@flotilla/git/merge';
import type { Mirror } from '@flotilla/git/mirror';
import { readTreeOf } from '@flotilla/git/read-tree';
import { candidateBundleName } from '../domain/bundle-names.ts';
import type { Candidate, LandingFacts, Merge } from '../domain/decide-landing.ts';
import { readParents } from './read-parents.ts';

/**
 * Asks the remote for the head and git for everything that follows from it. Of what the request says of commits only their
 * ids are believed: trees, parents and diffs are read from git. `at` dates a merge commit.
 */
export async function readLandingFacts(mirror: Mirror, request: LandStepRequested, at: Date): Promise<LandingFacts> {
  const approved = await readChange(mirror, request.approved);
  const head = await readBranch(mirror, request);
  const landed = await findLanded(mirror, {
    head,
    since: approved.base,
    change: approved.commit,
    runId: request.runId,
    stepId: request.stepId,
  });
  const settled = landed !== undefined || head === approved.base;
  return {
    head,
    headTree: await readTreeOf(mirror, head),
    approved,
    candidate: await readCandidate(mirror, request.candidate),
    evidence: request.evidence,
    checks: { declared: request.project.checks, unchecked: request.project.unchecked },
    landed: landed?.commit,
    merge: settled ? { kind: 'clean', change: approved } : await merge(mirror, request, approved, head, at),
  };
}

/** A branch that a run began on is not misspelt. Throws BRANCH_GONE, and what the remote cannot be asked for. */
async function readBranch(mirror: Mirror, { branch, runId }: LandStepRequested): Promise<CommitId> {
  try {
    return (await readHead(mirror, branch)).commit;
  } catch (error) {
    const gone = error instanceof FlotillaError && (error.is(errors.branchUnknown) || error.is(errors.remoteEmpty));
    if (!gone) throw error;
    throw new FlotillaError(errors.branchGone, { branch, remote: mirror.remoteName, runId }, { cause: error });
  }
}

async function readChange(mirror: Mirror, claimed: Change): Promise<Change> {
  const { commit } = claimed;
  const [base = claimed.base] = await readParents(mirror, commit);
  const tree = await readTreeOf(mirror, commit);
  return { ...claimed, base, tree, diffIdentity: await diffIdentity(mirror, base, commit) };
}

async function readCandidate(mirror: Mirror, claimed: Change | undefined): Promise<Candidate | undefined> {
  if (claimed === undefined) return undefined;
  const parents = await readParents(mirror, claimed.commit);
  const [base = claimed.base] = parents;
  const tree = await readTreeOf(mirror, claimed.commit);
  return { change: { ...claimed, base, tree }, parents };
}

async function merge(
  mirror: Mirror,
  request: LandStepRequested,
  approved: Change,
  head: CommitId,
  at: Date,
): Promise<Merge> {
  const { runId, stepId, attempt, goal, approvedBy } = request;
  const merged = await mergeOnto(mirror, {
    head,
    change: approved.commit,
    message: `${subjectOf(goal)}\n\nApproved by ${approvedBy}.`,
    occasion: { runId, stepId, attempt },
    at,
  });
  switch (merged.kind) {
    case 'conflict':
      return { kind: 'conflict', paths: merged.paths };
    case 'contained':
      return { kind: 'clean', change: approved };
    case 'fast-forward':
    case 'merged': {
      const { commit, tree } = merged;
      const files = [...(await listChangedFiles(mirror, head, commit))];
      const identity = await diffIdentity(mirror, head, commit);
      const bundle = candidateBundleName(request, commit);
      return { kind: 'clean', change: { commit, tree, base: head, bundle, diffIdentity: identity, files } };
    }
  }
}

function subjectOf(goal: string): string {
  const [line = ''] = goal.trim().split('\n', 1);
  return `Merge: ${line}`;
}
