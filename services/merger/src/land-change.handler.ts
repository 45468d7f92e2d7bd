import { nothingSpent } from '@flotilla/contracts/allowance';
import type { Change, Evidence } from '@flotilla/contracts/change';
import { PushStarted } from '@flotilla/contracts/events/step-events';
import type { CommitId, TreeId } from '@flotilla/contracts/ids';
import { readEvent } from '@flotilla/contracts/log-entry';
import type { LandStepRequested } from '@flotilla/contracts/messages/land-step-requested';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError, type ErrorDefinition } from '@flotilla/errors/flotilla-error';
import type { StepAnswer, StepContext, StepWork } from '@flotilla/host/step-work';
import { decideLanding, type Landing, type LandingFacts } from './domain/decide-landing.ts';
import type { MergeLease } from './lease/merge-lease.ts';

/** One branch of one remote, as a landing sees it. Everything it says comes from git, never from our tables. */
export interface LandingTarget {
  /** Canonical key of the remote and the branch. */
  readonly lane: string;
  /** Reads the remote's head and what follows from it. Moves nothing; safe to repeat. */
  readFacts(): Promise<LandingFacts>;
  /** Moves the branch from `expectedHead` and reads it back. Throws pushRefused, and whatever leaves the outcome unknown. */
  push(commit: CommitId, expectedHead: CommitId): Promise<Pushed>;
  /** What a commit of the branch did to it. */
  describe(commit: CommitId): Promise<LandedCommit>;
  /** Keeps the candidate, respectively the head, where later steps find it. Answers the name of the bundle. */
  keepCandidate(candidate: Change): Promise<string>;
  keepHead(head: CommitId): Promise<string>;
}

export type Pushed = { readonly kind: 'landed'; readonly tree: TreeId } | { readonly kind: 'moved' };

export interface LandedCommit {
  readonly commit: CommitId;
  readonly tree: TreeId;
  /** What the branch showed before. */
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
    const target = await insist(context, () => this.#targets.open(request, context.signal));
    return this.#lease.hold(target.lane, (lost) => land(target, request, context, lost));
  }

  /**
   * Asks the branch, whatever became of who was asked to land; under the lease, so that nobody is at it still. Throws LANDING_UNKNOWN
   * where something was pushed and the branch cannot be asked.
   */
  async findDone(request: LandStepRequested, context: StepContext): Promise<StepAnswer | undefined> {
    try {
      return await this.#readDone(request, context);
    } catch (error) {
      throw await explainUnasked(errors.landingUnknown, error, context);
    }
  }

  async #readDone(request: LandStepRequested, context: StepContext): Promise<StepAnswer | undefined> {
    const target = await this.#targets.open(request, context.signal);
    return this.#lease.hold(target.lane, async () => {
      const { landed } = await context.span('landing.read', {}, () => target.readFacts());
      return landed === undefined ? undefined : report(await target.describe(landed), 'found', request.branch);
    });
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
    const facts = await context.span('landing.read', {}, () => insist(context, () => target.readFacts()));
    const landing = decideLanding(facts);
    const answer = await context.span('landing.carry_out', { 'flotilla.landing': landing.kind }, () =>
      carryOut(landing, facts, target, branch, context, stop),
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
  context: StepContext,
  stop: AbortSignal,
): Promise<StepAnswer | 'moved'> {
  switch (landing.kind) {
    case 'already_landed':
      return report(await target.describe(landing.commit), 'found', branch);
    case 'fast_forward':
    case 'merge': {
      const { commit } = landing.change;
      await context.log({ type: PushStarted.type, payload: { branch, commit } });
      // The last moment at which a lost lease or a cancelled run can still keep the branch where it is.
      stop.throwIfAborted();
      const pushed = await pushOrAsk(commit, facts.head, target, context);
      if (pushed.kind === 'moved') return 'moved';
      requireEvidence(commit, pushed.tree, landing.evidence);
      return report(await target.describe(commit), landing.kind, branch);
    }
    case 'no_changes': {
      const reason = `The branch ${branch} holds all of the change already, at ${facts.head}.`;
      return unsettled({ kind: 'no_changes', reason });
    }
    case 'unverified':
      return hold({ kind: 'unverified', candidate: await keep(landing.candidate, target) }, facts, target);
    case 'parked': {
      const { candidate, reason } = landing;
      return hold({ kind: 'parked', candidate: await keep(candidate, target), reason }, facts, target);
    }
    case 'conflict':
      return unsettled({
        kind: 'conflict',
        head: facts.head,
        headBundle: await target.keepHead(facts.head),
        paths: [...landing.paths],
      });
  }
}

/** Where a push did not end well, the branch says what came of it. Throws why it did not where the branch has it not. */
async function pushOrAsk(
  commit: CommitId,
  expectedHead: CommitId,
  target: LandingTarget,
  context: StepContext,
): Promise<Pushed> {
  try {
    return await target.push(commit, expectedHead);
  } catch (error) {
    const { landed } = await insist(context, () => target.readFacts());
    if (landed === undefined) throw error;
    return { kind: 'landed', tree: (await target.describe(commit)).tree };
  }
}

/** Asks the branch. What was pushed before may have landed, so a branch that does not answer is waited for and is no failure. */
async function insist<Answer>(context: StepContext, ask: () => Promise<Answer>): Promise<Answer> {
  try {
    return await ask();
  } catch (error) {
    throw await explainUnasked(errors.landingUnconfirmed, error, context);
  }
}

/** What to throw where the branch could not be asked: the failure itself where nothing was pushed, or where it is waited out anyway. */
async function explainUnasked(definition: ErrorDefinition, error: unknown, context: StepContext): Promise<unknown> {
  if (error instanceof FlotillaError && error.remedy === 'wait') return error;
  const entries = await context.journal();
  const pushed = entries.map((entry) => readEvent(entry, PushStarted)).findLast((read) => read !== undefined);
  if (pushed === undefined) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new FlotillaError(definition, { ...pushed, reason }, { cause: error });
}

function report(landed: LandedCommit, how: 'fast_forward' | 'merge' | 'found', branch: string): StepAnswer {
  const { commit, tree } = landed;
  return {
    outcome: { kind: 'done', result: { verb: 'land', commit, tree, branch } },
    spent: nothingSpent,
    entries: [{ type: 'change.landed', payload: { branch, how, ...landed } }],
  };
}

/** Holds what came to the branch against the evidence, even where the decision or its facts are wrong. */
function requireEvidence(commit: CommitId, tree: TreeId, evidence: Evidence): void {
  if (evidence.tree !== tree) throw new FlotillaError(errors.landedTreeUnproven, { commit, tree });
}

async function keep(candidate: Change, target: LandingTarget): Promise<Change> {
  return { ...candidate, bundle: await target.keepCandidate(candidate) };
}

const unverifiedReason = 'The branch moved; what was merged with it has to pass the checks before it lands.';

/** A candidate that does not land now. The log gets the diff of a merge, which is not the one that was approved. */
async function hold(
  outcome: Extract<StepAnswer['outcome'], { kind: 'unverified' | 'parked' }>,
  { approved }: LandingFacts,
  target: LandingTarget,
): Promise<StepAnswer> {
  const { candidate: change } = outcome;
  if (change.commit === approved.commit) return unsettled(outcome);
  const { diff, diffTruncated } = await target.describe(change.commit);
  const reason = outcome.kind === 'parked' ? outcome.reason : unverifiedReason;
  return {
    ...unsettled(outcome),
    entries: [{ type: 'change.merged', payload: { change, diff, diffTruncated, reason } }],
  };
}

function unsettled(outcome: StepAnswer['outcome']): StepAnswer {
  return { outcome, spent: nothingSpent };
}
