import type { Evidence } from '@flotilla/contracts/change';
import type { Outcome, StepResult } from '@flotilla/contracts/outcome';
import type { Feedback } from '@flotilla/contracts/step-request';
import type { Verb } from '@flotilla/contracts/verbs';
import type { Known } from './run-state.ts';

/** Evidence of the newest trees; older ones cannot land any more. */
const EVIDENCE_KEPT = 8;

/** What is known once a step of this verb ended so. An outcome that carries no knowledge leaves it as it is. */
export function learnOutcome(known: Known, verb: Verb, outcome: Outcome): Known {
  switch (outcome.kind) {
    case 'done':
      return learnResult(known, outcome.result);
    case 'no_changes':
      return verb === 'build' || verb === 'land' ? { ...withoutApproval(known), noChanges: outcome.reason } : known;
    case 'changes_requested': {
      const { summary: text, findings } = outcome;
      const from = verb === 'verify' ? 'checks' : 'review';
      const feedback = [...known.feedback, feedbackOf({ from, text, findings })];
      return { ...withoutApproval(known), ...(verb === 'verify' ? movedBase(known) : {}), feedback };
    }
    case 'conflict': {
      const text = `The branch moved to ${outcome.head}, and the change does not apply to it.`;
      const feedback = feedbackOf({ from: 'conflict', text, paths: outcome.paths });
      const base = { commit: outcome.head, bundle: outcome.headBundle };
      return { ...withoutApproval(known), base, feedback: [...known.feedback, feedback] };
    }
    case 'unverified':
      return { ...known, candidate: outcome.candidate };
    case 'parked':
      return { ...withoutApproval(known), candidate: outcome.candidate, parked: true, parkedReason: outcome.reason };
    case 'limit_reached':
    case 'cancelled':
    case 'failed':
      return known;
  }
}

/** The head that a candidate merged with becomes the base: on the old one its author would see the checks pass. */
function movedBase({ candidate }: Known): Pick<Known, 'base'> | undefined {
  return candidate === undefined ? undefined : { base: { commit: candidate.base, bundle: candidate.bundle } };
}

/** A person's change request, as its author reads it. */
export function learnChangeRequest(known: Known, comment: string): Known {
  return { ...withoutApproval(known), feedback: [...known.feedback, feedbackOf({ from: 'person', text: comment })] };
}

/** What a person approved, or would: an approval is for one commit, so whatever makes another takes it away. */
export function withoutApproval(known: Known): Known {
  const { approval: _approval, candidate: _candidate, parkedReason: _reason, ...rest } = known;
  return { ...rest, parked: false };
}

function learnResult(known: Known, result: StepResult): Known {
  switch (result.verb) {
    case 'open':
      return {
        ...known,
        repository: result.repository,
        branch: result.branch,
        base: { commit: result.base, tree: result.tree, bundle: result.bundle },
      };
    case 'setup':
      return { ...known, setupKey: result.key };
    case 'plan':
      return { ...known, plan: result.plan };
    case 'build':
      return { ...withoutApproval(known), change: result.change, feedback: [] };
    case 'review':
      return {
        ...known,
        evidence: addEvidence(known.evidence, result.evidence),
        review: { summary: result.summary, findings: result.findings },
      };
    case 'verify':
      return { ...known, evidence: addEvidence(known.evidence, result.evidence) };
    case 'land':
      return { ...withoutApproval(known), landed: { commit: result.commit, tree: result.tree, branch: result.branch } };
    case 'remember':
      return known;
  }
}

function addEvidence(evidence: readonly Evidence[], added: Evidence): Evidence[] {
  return [...evidence.filter(({ tree }) => tree !== added.tree), added].slice(-EVIDENCE_KEPT);
}

function feedbackOf(feedback: Pick<Feedback, 'from' | 'text'> & Partial<Feedback>): Feedback {
  return { findings: [], paths: [], ...feedback };
}
