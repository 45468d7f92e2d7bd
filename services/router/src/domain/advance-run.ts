import { addSpent } from '@flotilla/contracts/allowance';
import type { GateId, StepId } from '@flotilla/contracts/ids';
import type { NewLogEntry } from '@flotilla/contracts/log-entry';
import type { StepCompleted } from '@flotilla/contracts/messages/step-completed';
import type { Outcome, OutcomeKind } from '@flotilla/contracts/outcome';
import { nextStep } from '@flotilla/workflow/next-step';
import { resultOfRun, type LastWord } from '@flotilla/workflow/run-result';
import { errors } from '@flotilla/errors/catalogue';
import type { Slip, SlipGate, SlipWork } from '@flotilla/workflow/slip';
import { allowStep } from './allow-step.ts';
import type { Decision, GateChange, Ignored, RunEvent, StepRequest, Turn } from './decision.ts';
import { explainEnd, type Explanation } from './explain-end.ts';
import { learnChangeRequest, learnOutcome, withoutApproval } from './learn-outcome.ts';
import { requestStep } from './request-step.ts';
import { laneOf, type RunState } from './run-state.ts';

export interface RunFacts {
  readonly run: RunState;
  readonly slip: Slip;
  readonly event: RunEvent;
  readonly turn: Turn;
  readonly now: Date;
  /** Used when a gate opens. */
  readonly gateId: GateId;
}

/**
 * How a run moves: the one place where its state is decided. Total over every event at every position; what is of a time
 * that is over is ignored. A run that ended stays ended, and `land` is asked for only with the approval of the commit.
 */
export function advanceRun(facts: RunFacts): Decision {
  const { run, slip, event } = facts;
  if (run.position?.kind === 'ended') return ignore('ended');
  switch (event.kind) {
    case 'accepted':
      if (run.position !== undefined) return ignore('not_waiting');
      return enter(facts, { run, entries: [event.entry], requests: [], gates: [] }, slip.start);
    case 'stepCompleted':
      return completeStep(facts, event.completion);
    case 'gateDecided':
      return decideGate(facts, event);
    case 'turnGranted':
      return takeTurn(facts);
    case 'cancelRequested':
      return cancelRun(facts, event);
    case 'deadlinePassed':
      return passDeadline(facts, event.atWork);
  }
}

/** What has been decided so far in this advance. */
interface Progress {
  readonly run: RunState;
  readonly entries: readonly NewLogEntry[];
  readonly requests: readonly StepRequest[];
  readonly gates: readonly GateChange[];
}

function completeStep(facts: RunFacts, { stepId, attempt, outcome: answered, spent }: StepCompleted): Decision {
  const { run, slip } = facts;
  const step = slip.steps[stepId];
  if (run.position?.kind !== 'step' || run.position.stepId !== stepId || step?.kind !== 'work')
    return ignore('another_step');
  if (run.position.attempt !== attempt) return ignore('another_attempt');
  const outcome = trustOutcome(step, stepId, answered);
  const progress: Progress = {
    run: { ...run, spent: addSpent(run.spent, spent), known: learnOutcome(run.known, step.does, outcome) },
    entries: [{ type: 'step.completed', stepId, attempt, payload: { outcome, spent } }],
    requests: [],
    gates: [],
  };
  if (run.cancel !== undefined) return end(facts, progress, stepId, 'cancelled');
  return follow(facts, progress, stepId, outcome.kind, explainEnd({ kind: 'outcome', stepId, outcome }));
}

/** A result of another verb teaches nothing that can be relied on. */
function trustOutcome(step: SlipWork, stepId: StepId, outcome: Outcome): Outcome {
  if (outcome.kind !== 'done' || outcome.result.verb === step.does) return outcome;
  const { code, message, advice } = explainEnd({ kind: 'foreign_result', stepId, verb: outcome.result.verb });
  return { kind: 'failed', code, message, advice };
}

type GateDecision = Extract<RunEvent, { kind: 'gateDecided' }>;

function decideGate(facts: RunFacts, { gateId, decision, by, commit, comment }: GateDecision): Decision {
  const { run, now } = facts;
  const { position } = run;
  if (position?.kind !== 'gate' || position.gateId !== gateId || position.change.commit !== commit)
    return ignore('another_gate');
  const { stepId, change } = position;
  const payload = { gateId, decision, by, commit: change.commit, ...(comment === undefined ? {} : { comment }) };
  const waited: RunState = { ...run, deadline: later(run.deadline, position.openedAt, now) };
  const progress: Progress = {
    run: waited,
    entries: [{ type: 'gate.decided', stepId, attempt: run.visits[stepId] ?? 1, payload }],
    requests: [],
    gates: [{ kind: 'decided', payload }],
  };
  switch (decision) {
    case 'approve': {
      const known = { ...withoutApproval(waited.known), approval: { change, by } };
      return follow(facts, { ...progress, run: { ...waited, known } }, stepId, 'done');
    }
    case 'request_changes': {
      const known = learnChangeRequest(waited.known, comment ?? '');
      return follow(facts, { ...progress, run: { ...waited, known } }, stepId, 'changes_requested');
    }
    case 'decline':
      return end(facts, progress, stepId, 'declined', explainEnd({ kind: 'declined', by }));
  }
}

function takeTurn(facts: RunFacts): Decision {
  const { run, turn, now } = facts;
  if (run.position?.kind !== 'turn') return ignore('not_waiting');
  if (turn.kind === 'behind') return ignore('not_due');
  const waited = { ...run, deadline: later(run.deadline, run.position.since, now) };
  return enter(facts, { run: waited, entries: [], requests: [], gates: [] }, run.position.stepId);
}

type CancelRequest = Extract<RunEvent, { kind: 'cancelRequested' }>;

/** A step at work is asked to stop and answers; one that nobody works on ends with its run, unless it may have landed. */
function cancelRun(facts: RunFacts, { by, reason, atWork }: CancelRequest): Decision {
  const { run } = facts;
  const cancel = { by, ...(reason === undefined ? {} : { reason }) };
  const asked = run.cancel !== undefined;
  const working = run.position?.kind === 'step' && (atWork || isLanding(facts));
  if (asked && working) return ignore('at_work');
  const progress: Progress = {
    run: { ...run, cancel: run.cancel ?? cancel },
    entries: asked ? [] : [{ type: 'run.cancel_requested', payload: cancel }],
    requests: [],
    gates: [],
  };
  return working ? advanced(facts, progress) : end(facts, progress, stepOf(run), 'cancelled');
}

/**
 * Time with a person or in the queue for a turn is not counted; a step at work sees its deadline itself, and so does one that
 * may have landed.
 */
function passDeadline(facts: RunFacts, atWork: boolean): Decision {
  const { run, now } = facts;
  if (run.position?.kind !== 'step' || now.getTime() < Date.parse(run.deadline)) return ignore('not_due');
  if (atWork || isLanding(facts)) return ignore('at_work');
  const { stepId } = run.position;
  const progress: Progress = { run, entries: [], requests: [], gates: [] };
  return end(facts, progress, stepId, 'exhausted', explainEnd({ kind: 'limit', stepId, limit: 'minutes' }));
}

/** Whether a landing was asked for and not answered: the branch alone knows what came of it, so only an answer ends the run. */
function isLanding({ run: { position }, slip }: RunFacts): boolean {
  if (position?.kind !== 'step') return false;
  const step = slip.steps[position.stepId];
  return step?.kind === 'work' && step.does === 'land';
}

/** Goes where the slip leads after a step or gate. `why` explains the end where it leads nowhere. */
function follow(
  facts: RunFacts,
  progress: Progress,
  stepId: StepId,
  outcome: OutcomeKind,
  why?: Explanation,
): Decision {
  const next = nextStep(facts.slip, stepId, outcome, progress.run.visits);
  switch (next.kind) {
    case 'step':
    case 'gate':
      return enter(facts, progress, next.stepId);
    case 'end':
    case 'stopped':
      return end(facts, progress, stepId, outcome, why);
    case 'exhausted':
      return end(facts, progress, stepId, 'exhausted', explainEnd({ kind: 'limit', stepId, limit: next.limit }));
  }
}

function enter(facts: RunFacts, progress: Progress, stepId: StepId): Decision {
  const step = facts.slip.steps[stepId];
  if (step === undefined) return lacking(facts, progress, stepId, 'its slip');
  if (step.kind === 'gate') return openGate(facts, progress, stepId, step);
  const { turn, now } = facts;
  const lane = laneOf(progress.run);
  if (step.does === 'land' && !progress.run.holdsTurn && turn.kind === 'behind' && lane !== undefined) {
    const run: RunState = { ...progress.run, position: { kind: 'turn', stepId, since: now.toISOString() } };
    const awaited: NewLogEntry = { type: 'turn.awaited', stepId, payload: { lane, behind: turn.runId } };
    return advanced(facts, { ...progress, run, entries: [...progress.entries, awaited] });
  }
  return askForStep(facts, progress, stepId, step);
}

function askForStep(facts: RunFacts, progress: Progress, stepId: StepId, step: SlipWork): Decision {
  const { slip, now } = facts;
  const { does: verb } = step;
  const attempt = (progress.run.visits[stepId] ?? 0) + 1;
  const run: RunState = {
    ...progress.run,
    position: { kind: 'step', stepId, attempt, requestedAt: now.toISOString() },
    visits: { ...progress.run.visits, [stepId]: attempt },
    // The turn is kept while a candidate is verified, and given back by whatever else comes next.
    holdsTurn: verb === 'land' || (verb === 'verify' && progress.run.holdsTurn),
    known: verb === 'build' ? withoutApproval(progress.run.known) : progress.run.known,
  };
  const allowed = step.allowance === null ? undefined : allowStep(step.allowance, slip.budget, run.spent);
  if (allowed?.kind === 'spent') {
    const why = explainEnd({ kind: 'limit', stepId, limit: allowed.limit });
    return follow(facts, { ...progress, run }, stepId, 'limit_reached', why);
  }
  const allowance = allowed?.allowance ?? null;
  const request = requestStep(run, { stepId, attempt, step, allowance });
  if (request === undefined) return lacking(facts, progress, stepId, verb);
  const payload = { verb, ...(allowance === null ? {} : { allowance }) };
  return advanced(facts, {
    ...progress,
    run,
    requests: [request],
    entries: [...progress.entries, { type: 'step.requested', stepId, attempt, payload }],
  });
}

function openGate(facts: RunFacts, progress: Progress, stepId: StepId, step: SlipGate): Decision {
  const { gateId, now } = facts;
  const { known, visits } = progress.run;
  const change = known.parked ? known.candidate : known.change;
  if (change === undefined) return lacking(facts, progress, stepId, 'gate');
  const attempt = (visits[stepId] ?? 0) + 1;
  const asked = step.question.replaceAll('{branch}', known.branch ?? 'its branch');
  const question = known.parkedReason === undefined ? asked : `${asked} Asked again: ${known.parkedReason}`;
  const run: RunState = {
    ...progress.run,
    position: { kind: 'gate', stepId, gateId, change, openedAt: now.toISOString() },
    visits: { ...visits, [stepId]: attempt },
    holdsTurn: false,
    known: withoutApproval(known),
  };
  return advanced(facts, {
    ...progress,
    run,
    entries: [...progress.entries, { type: 'gate.opened', stepId, attempt, payload: { gateId, question, change } }],
    gates: [...progress.gates, { kind: 'open', gateId, stepId, question, change }],
  });
}

function lacking(facts: RunFacts, progress: Progress, stepId: StepId, verb: string): Decision {
  const why = explainEnd({ kind: 'not_possible', stepId, verb, topology: facts.slip.topology });
  return end(facts, progress, stepId, 'failed', why);
}

function end(
  facts: RunFacts,
  progress: Progress,
  stepId: StepId | undefined,
  lastWord: LastWord,
  why?: Explanation,
): Decision {
  const { run } = progress;
  const { landed, noChanges } = run.known;
  const settled = landed !== undefined ? 'landed' : noChanges !== undefined ? 'no_changes' : undefined;
  const result = resultOfRun(settled, lastWord);
  const explained = result === 'landed' || result === 'no_changes' ? undefined : why;
  const unknown = explained?.code === errors.landingUnknown.code ? ({ mayHaveLanded: true } as const) : {};
  const ended = {
    result,
    ...(landed === undefined ? {} : { commit: landed.commit }),
    ...(stepId === undefined ? {} : { stepId }),
    ...explained,
    spent: run.spent,
  };
  const open =
    run.position?.kind === 'gate' && progress.gates.length === 0
      ? [{ kind: 'withdrawn', gateId: run.position.gateId } as const]
      : [];
  return advanced(
    facts,
    {
      run: { ...run, position: { kind: 'ended', result, at: facts.now.toISOString(), ...unknown }, holdsTurn: false },
      entries: [...progress.entries, { type: 'run.ended', payload: ended }],
      requests: [],
      gates: [...progress.gates, ...open],
    },
    ended,
  );
}

function advanced(
  { run: before }: RunFacts,
  progress: Progress,
  ended?: Extract<Decision, { kind: 'advanced' }>['ended'],
): Decision {
  const lane = before.holdsTurn === progress.run.holdsTurn ? 'keep' : progress.run.holdsTurn ? 'take' : 'release';
  return { kind: 'advanced', ...progress, lane, ...(ended === undefined ? {} : { ended }) };
}

function ignore(reason: Ignored['reason']): Decision {
  return { kind: 'ignored', reason };
}

function stepOf({ position }: RunState): StepId | undefined {
  return position === undefined || position.kind === 'ended' ? undefined : position.stepId;
}

/** The deadline moved on by the time that passed since. */
function later(deadline: string, since: string, now: Date): string {
  return new Date(Date.parse(deadline) + Math.max(0, now.getTime() - Date.parse(since))).toISOString();
}
