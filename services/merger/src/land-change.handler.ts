import { nothingSpent } from '@flotilla/contracts/allowance';
import type { Change, Evidence } from '@flotilla/contracts/change';
import type { CommitId, TreeId } from '@flotilla/contracts/ids';
import type { LandStepRequested } from '@flotilla/contracts/messages/land-step-requested';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import type { StepAnswer, StepContext, StepWork } from '@flotilla/host/step-work';
import { decideLanding, type Landing, type LandingFacts } from './domain/decide-landing.ts';
import type { MergeLease } from './lease/merge-lease.ts';

/** One branch of one remote, as a landing sees it. Everything it says comes from git, never from our tables. */
export interface LandingTarget {
  /** The git library's canonical lock key of the remote and the branch. */
  readonly lane: string;
  /** Reads the remote's head and what follows from it. Moves nothing; safe to repeat. */
  readFacts(): Promise<LandingFacts>;
  /** Moves the branch from `expectedHead` to the commit; `moved` where it points elsewhere by now. */
  push(commit: CommitId, expectedHead: CommitId): Promise<'pushed' | 'moved'>;
  /** Asks the remote again: what its branch shows of the approved change; undefined where it does not hold it. */
  findLanded(): Promise<LandedCommit | undefined>;
  /** Keeps the candidate, respectively the head, where later steps find it. Answers the name of the bundle. */
  keepCandidate(candidate: Change): Promise<string>;
  keepHead(head: CommitId): Promise<string>;
}

/** The commit of the branch that brought the change in, and what it did to the branch. */
export interface LandedCommit {
  readonly commit: CommitId;
  readonly tree: TreeId;
  readonly previous: CommitId;
  readonly diff: string;
  readonly diffTruncated: boolean;
}

export interface LandingTargets {
  open(request: LandStepRequested, signal: AbortSignal): Promise<LandingTarget>;
}

/** How often a landing begins again under one lease because somebody else moved the branch. */
const movesBeforeLater = 3;

/** Lands an approved change, at most once however often it is asked, because it asks the branch first. */
export class LandChangeHandler implements StepWork<LandStepRequested> {
  readonly #targets: LandingTargets;
  readonly #lease: MergeLease;

  constructor(targets: LandingTargets, lease: MergeLease) {
    this.#targets = targets;
    this.#lease = lease;
  }

  async work(request: LandStepRequested, context: StepContext): Promise<StepAnswer> {
    const target = await this.#targets.open(request, context.signal);
    return this.#lease.hold(target.lane, (lost) => land(target, request, context, lost));
  }
}

async function land(
  target: LandingTarget,
  { branch }: LandStepRequested,
  context: StepContext,
  leaseLost: AbortSignal,
): Promise<StepAnswer> {
  const stop = AbortSignal.any([context.signal, leaseLost]);
  for (let moves = 0; moves < movesBeforeLater; moves += 1) {
    const facts = await context.span('landing.read', {}, () => target.readFacts());
    const landing = decideLanding(facts);
    const answer = await context.span('landing.carry_out', { 'flotilla.landing': landing.kind }, () =>
      carryOut(landing, facts, target, branch, stop),
    );
    if (answer !== 'moved') return answer;
  }
  throw new FlotillaError(errors.branchKeepsMoving, { branch, times: movesBeforeLater });
}

async function carryOut(
  landing: Landing,
  facts: LandingFacts,
  target: LandingTarget,
  branch: string,
  stop: AbortSignal,
): Promise<StepAnswer | 'moved'> {
  switch (landing.kind) {
    case 'already_landed':
      return confirm(await target.findLanded(), 'found', branch);
    case 'fast_forward':
    case 'merge': {
      requireEvidence(landing.change, landing.evidence);
      // The last moment at which a lost lease or a cancelled run can still keep the branch where it is.
      stop.throwIfAborted();
      if ((await target.push(landing.change.commit, facts.head)) === 'moved') return 'moved';
      const landed = await target.findLanded();
      if (landed !== undefined) requireEvidence(landed, landing.evidence);
      return confirm(landed, landing.kind, branch);
    }
    case 'unverified':
      return unsettled({ kind: 'unverified', candidate: await keep(landing.candidate, target) });
    case 'parked':
      return unsettled({
        kind: 'parked',
        candidate: await keep(landing.candidate, target),
        reason: landing.reason,
      });
    case 'conflict':
      return unsettled({
        kind: 'conflict',
        head: facts.head,
        headBundle: await target.keepHead(facts.head),
        paths: [...landing.paths],
      });
  }
}

/** What the branch shows decides; a branch that does not hold the change was moved back under us. */
function confirm(
  landed: LandedCommit | undefined,
  how: 'fast_forward' | 'merge' | 'found',
  branch: string,
): StepAnswer | 'moved' {
  if (landed === undefined) return 'moved';
  const { commit, tree } = landed;
  return {
    outcome: { kind: 'done', result: { verb: 'land', commit, tree, branch } },
    spent: nothingSpent,
    entries: [{ type: 'change.landed', payload: { branch, how, ...landed } }],
  };
}

function requireEvidence({ commit, tree }: { commit: CommitId; tree: TreeId }, evidence: Evidence): void {
  if (evidence.tree !== tree) throw new FlotillaError(errors.landedTreeUnproven, { commit, tree });
}

async function keep(candidate: Change, target: LandingTarget): Promise<Change> {
  return { ...candidate, bundle: await target.keepCandidate(candidate) };
}

function unsettled(outcome: StepAnswer['outcome']): StepAnswer {
  return { outcome, spent: nothingSpent };
}
