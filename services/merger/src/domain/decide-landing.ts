import type { Change, Evidence } from '@flotilla/contracts/change';
import type { CommitId, TreeId } from '@flotilla/contracts/ids';

/** What git says of the branch and the approved change, and what is known to pass. */
export interface LandingFacts {
  /** Commit that the remote's branch points at now. */
  readonly head: CommitId;
  readonly headTree: TreeId;
  /** What a person approved. */
  readonly approved: Change;
  /** The merge that was verified since, if any. It counts only while it still sits on `head` and holds the approved commit. */
  readonly candidate: Candidate | undefined;
  readonly evidence: readonly Evidence[];
  readonly checks: WantedChecks;
  /** Commit through which the branch already holds this step's change. */
  readonly landed: CommitId | undefined;
  /** What merging the approved commit into `head` gives. Not looked at while `head` is the base of what was approved. */
  readonly merge: Merge;
}

export interface Candidate {
  readonly change: Change;
  readonly parents: readonly CommitId[];
}

export interface WantedChecks {
  /** Commands the project declares; empty: whichever were detected. */
  readonly declared: readonly string[];
  /** True where the owner accepts landing without any check. */
  readonly unchecked: boolean;
}

export type Merge =
  | { readonly kind: 'clean'; readonly change: Change }
  | { readonly kind: 'conflict'; readonly paths: readonly string[] };

/** Only `fast_forward` and `merge` move the branch, and both carry the evidence for the very tree they put there. */
export type Landing =
  | { readonly kind: 'already_landed'; readonly commit: CommitId }
  | { readonly kind: 'fast_forward'; readonly change: Change; readonly evidence: Evidence }
  | { readonly kind: 'merge'; readonly change: Change; readonly evidence: Evidence }
  /** The branch holds it all already. */
  | { readonly kind: 'no_changes' }
  | { readonly kind: 'unverified'; readonly candidate: Change }
  | { readonly kind: 'parked'; readonly candidate: Change; readonly reason: string }
  | { readonly kind: 'conflict'; readonly paths: readonly string[] };

/**
 * What to do with an approved change, given what the repository says now. What was approved is never altered: it lands
 * as it is, or as the second parent of a merge whose diff to the branch is the approved diff.
 */
export function decideLanding(facts: LandingFacts): Landing {
  if (facts.landed !== undefined) return { kind: 'already_landed', commit: facts.landed };
  if (facts.head === facts.approved.base) return landWhereProven('fast_forward', facts.approved, facts);
  if (facts.merge.kind === 'conflict') return { kind: 'conflict', paths: facts.merge.paths };

  const merged = currentCandidate(facts, facts.merge.change);
  if (merged.tree === facts.headTree) return { kind: 'no_changes' };
  if (merged.diffIdentity !== facts.approved.diffIdentity)
    return { kind: 'parked', candidate: merged, reason: notApproved };
  return landWhereProven('merge', merged, facts);
}

/** The verified merge where it is still the right one, so that what was tested is what lands, commit id included. */
function currentCandidate({ head, approved, candidate }: LandingFacts, merged: Change): Change {
  if (candidate === undefined) return merged;
  const [first, second, ...more] = candidate.parents;
  const fits = first === head && second === approved.commit && more.length === 0;
  return fits && candidate.change.base === head && candidate.change.tree === merged.tree
    ? { ...merged, commit: candidate.change.commit, bundle: candidate.change.bundle }
    : merged;
}

const notApproved = 'The branch moved, and merged with it the change is no longer the one that was approved.';

function landWhereProven(kind: 'fast_forward' | 'merge', change: Change, facts: LandingFacts): Landing {
  const evidence = findEvidence(change.tree, facts.evidence, facts.checks);
  return evidence === undefined ? { kind: 'unverified', candidate: change } : { kind, change, evidence };
}

/** Evidence for exactly this tree that names every declared check; naming none counts only for an unchecked project. */
export function findEvidence(
  tree: TreeId,
  evidence: readonly Evidence[],
  { declared, unchecked }: WantedChecks,
): Evidence | undefined {
  return evidence.find(
    (passed) =>
      passed.tree === tree &&
      (unchecked || passed.checks.length > 0) &&
      declared.every((check) => passed.checks.includes(check)),
  );
}
