import { DecideGate } from '@flotilla/contracts/calls/decide-gate';
import type { Gate, GateDecision } from '@flotilla/contracts/calls/gate-view';
import { ShowGate } from '@flotilla/contracts/calls/show-gate';
import { ShowRun } from '@flotilla/contracts/calls/show-run';
import { CommitId, GateId } from '@flotilla/contracts/ids';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { z } from 'zod';
import { exitCodes } from '../exit-codes.ts';
import { tellFleet } from '../fleet/tell-fleet.ts';
import { report, type Session } from '../session.ts';
import { explainRun } from '../text/describe-run-state.ts';
import { renderGate } from '../text/render-gate.ts';
import { visibleLine } from '../text/visible-text.ts';
import { readGiven, type Verb, type VerbArgument, type VerbOption } from '../verb.ts';
import { findRunId, RunReference } from './find-run.ts';

const Target = z.union([GateId, RunReference], 'the id of a run or of a gate, or "latest"');

const Given = z.object({
  target: Target,
  commit: z
    .string()
    .regex(/^[0-9a-f]{7,40}$/, 'at least seven digits of a commit id')
    .optional(),
  comment: z.string().optional(),
  yes: z.boolean().default(false),
});

const target: VerbArgument = { name: 'target', summary: 'id of the run or of its gate, or "latest"' };

const commitOption: VerbOption = {
  flags: '--commit <id>',
  summary: 'the commit that was looked at; refused when the gate asks about another',
};
const yesOption: VerbOption = { flags: '-y, --yes', summary: 'do not ask back' };
const commentOption: VerbOption = { flags: '-m, --comment <text>', summary: 'words that go with it' };

export const approve: Verb = {
  name: 'approve',
  summary: 'approve what a run proposes, so that it lands',
  arguments: [target],
  options: [commitOption, commentOption, yesOption],
  examples: [
    { command: 'flotilla approve latest', summary: 'shows the files and, on a terminal, asks back' },
    {
      command: 'flotilla approve run_01j9z3k8m2n4p6q8r0s2t4v6w8 --commit 4f2a91c',
      summary: 'only if it is still the commit that was looked at',
    },
  ],
  json: 'the answer of the call decideGate',
  calls: ['showRun', 'showGate', 'decideGate'],
  run: (given, session) => decide('approve', readGiven('approve', Given, given), session),
};

export const requestChanges: Verb = {
  name: 'request-changes',
  summary: 'send what a run proposes back to its author',
  arguments: [target, { name: 'comment', summary: 'what to change' }],
  options: [commitOption, yesOption],
  examples: [
    { command: 'flotilla request-changes latest "Keep the old name as an alias."', summary: 'the run goes on' },
  ],
  json: 'the answer of the call decideGate',
  calls: ['showRun', 'showGate', 'decideGate'],
  run: (given, session) => decide('request_changes', readGiven('request-changes', Given, given), session),
};

export const decline: Verb = {
  name: 'decline',
  summary: 'decline what a run proposes; the run ends',
  arguments: [target],
  options: [commitOption, commentOption, yesOption],
  examples: [{ command: 'flotilla decline latest -m "Not needed any more."', summary: 'nothing lands' }],
  json: 'the answer of the call decideGate',
  calls: ['showRun', 'showGate', 'decideGate'],
  run: (given, session) => decide('decline', readGiven('decline', Given, given), session),
};

const questions: Readonly<Record<GateDecision, string>> = {
  approve: 'Approve',
  request_changes: 'Request changes on',
  decline: 'Decline',
};

const done: Readonly<Record<GateDecision, (commit: string) => string>> = {
  approve: (commit) => `Approved commit ${commit}; it lands now`,
  request_changes: (commit) => `Changes to commit ${commit} requested; its author goes on`,
  decline: (commit) => `Declined commit ${commit}; the run has ended`,
};

async function decide(decision: GateDecision, given: z.output<typeof Given>, session: Session) {
  await tellFleet(session);
  const api = await session.api();
  const shown = await api.call(ShowGate, { gateId: await findGateId(given.target, session) });
  const { gate } = shown;
  const commit = chooseCommit(gate, given.commit);
  if (!session.json) {
    session.note(visibleLine(gate.question));
    for (const line of renderGate(shown, session.palette)) session.note(line);
  }
  const asksBack = session.isTerminal && !session.json && !given.yes && given.commit === undefined;
  if (asksBack) {
    const answer = await session.ask(`${questions[decision]} commit ${commit.slice(0, 10)}? [y/N] `, session.signal);
    if (!/^y(es)?$/i.test(answer.trim())) {
      session.note('not decided');
      return exitCodes.failed.code;
    }
  }
  const { comment } = given;
  const decided = await api.call(DecideGate, {
    gateId: gate.gateId,
    decision,
    commit,
    ...(comment === undefined || comment.trim() === '' ? {} : { comment }),
  });
  report(
    session,
    decided,
    () => `${done[decision](decided.commit.slice(0, 10))}: ${session.command} watch ${decided.runId}`,
  );
  return exitCodes.done.code;
}

async function findGateId(target: z.output<typeof Target>, session: Session): Promise<GateId> {
  const gateId = GateId.safeParse(target);
  if (gateId.success) return gateId.data;
  const runId = await findRunId(RunReference.parse(target), session);
  const { run, gate } = await (await session.api()).call(ShowRun, { runId });
  if (gate === undefined) throw new FlotillaError(errors.gateNotOpen, { runId, ...explainRun(run) });
  return gate.gateId;
}

/** The gate's commit, where what was given is it or the beginning of it. */
function chooseCommit({ change, runId }: Gate, given: string | undefined): CommitId {
  if (given === undefined || change.commit.startsWith(given)) return CommitId.parse(change.commit);
  throw new FlotillaError(errors.commitDiffers, { asked: change.commit.slice(0, 10), given, runId });
}
