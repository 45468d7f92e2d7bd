import type { LogEvent } from '@flotilla/contracts/calls/log-event';
import type { EventContract } from '@flotilla/contracts/define-event';
import {
  AgentNudged,
  FinishRefused,
  ToolDecided,
  ToolFinished,
  ToolStarted,
} from '@flotilla/contracts/events/journal-events';
import {
  CancelRequested,
  GateDecided,
  GateOpened,
  RunEnded,
  StepCompletedEvent,
  TaskAccepted,
  TurnAwaited,
} from '@flotilla/contracts/events/run-events';
import {
  AttemptFailed,
  ChangeCaptured,
  ChangeLanded,
  ChangeMerged,
  CheckRan,
  DoorRequest,
  PlanWritten,
  RepositoryOpened,
  ReviewWritten,
  SetupFinished,
  StepStarted,
  SummaryWritten,
} from '@flotilla/contracts/events/step-events';
import { readEvent } from '@flotilla/contracts/log-entry';
import type { Outcome } from '@flotilla/contracts/outcome';
import type { z } from 'zod';
import { describeCount, describeCost, describeDuration, describeSpan } from '../text/describe-amounts.ts';
import { describeDiffStat } from '../text/render-diff.ts';
import { decisionWords } from '../text/render-decision.ts';
import { visibleLine } from '../text/visible-text.ts';

export interface EventLine {
  /** `quiet` lines are detail: a live view shows them only while they are news. */
  readonly weight: 'loud' | 'quiet';
  readonly text: string;
}

type Describe = (entry: LogEvent, startedAt: string | undefined) => EventLine | undefined;

function line<Schema extends z.ZodObject>(
  contract: EventContract<string, Schema>,
  weight: EventLine['weight'],
  text: (payload: z.output<Schema>, took: string | undefined) => string | undefined,
): readonly [string, Describe] {
  return [
    contract.type,
    (entry, startedAt) => {
      const payload = readEvent(entry, contract);
      const took = startedAt === undefined ? undefined : describeSpan(startedAt, entry.at);
      const said = payload === undefined ? undefined : text(payload, took);
      return said === undefined ? undefined : { weight, text: said };
    },
  ];
}

const short = (commit: string) => commit.slice(0, 10);

const table: ReadonlyMap<string, Describe> = new Map([
  line(
    TaskAccepted,
    'loud',
    ({ goal, project, topology }) => `task for ${project} (${topology}): ${visibleLine(goal)}`,
  ),
  line(StepStarted, 'quiet', ({ service, delivery }) =>
    delivery === 1 ? `begun by ${service}` : `taken up again by ${service}, delivery ${delivery}`,
  ),
  line(StepCompletedEvent, 'loud', ({ outcome, spent }, took) =>
    [
      describeOutcome(outcome),
      `in ${took ?? describeDuration(spent.seconds * 1000)}`,
      ...(spent.turns === 0
        ? []
        : [
            `${spent.turns} ${spent.turns === 1 ? 'turn' : 'turns'}, ${describeCount(spent.tokens)} tokens, ${describeCost(spent.microdollars)}`,
          ]),
    ].join(', '),
  ),
  line(
    AttemptFailed,
    'loud',
    ({ code, message, retryInMs, waiting }) =>
      `${waiting ? 'waits' : 'tries again'} in ${describeDuration(retryInMs)}: ${code} ${visibleLine(message)}`,
  ),
  line(
    RepositoryOpened,
    'quiet',
    ({ repository, branch, commit, files }) =>
      `${visibleLine(repository)} ${visibleLine(branch)} at ${short(commit)}, ${files} files`,
  ),
  line(SetupFinished, 'quiet', ({ how, commands, durationMs }) =>
    how === 'ran' ? `${visibleLine(commands.join(' && '))} in ${describeDuration(durationMs)}` : `dependencies: ${how}`,
  ),
  line(DoorRequest, 'quiet', ({ host, port, verdict, reason }) =>
    verdict === 'allow' ? undefined : `network to ${visibleLine(host)}:${port} refused: ${visibleLine(reason)}`,
  ),
  line(PlanWritten, 'loud', ({ plan }) => `plan: ${visibleLine(plan)}`),
  line(ToolDecided, 'quiet', ({ tool, verdict, code, reason }) =>
    verdict === 'allow'
      ? undefined
      : `${visibleLine(tool)} ${verdict === 'ask' ? 'asks' : 'refused'}: ${code} ${visibleLine(reason)}`,
  ),
  line(ToolStarted, 'quiet', ({ tool, summary }) => `${visibleLine(tool)} ${visibleLine(summary)}`),
  line(ToolFinished, 'quiet', ({ tool, ok, exitCode, result }) =>
    ok && (exitCode ?? 0) === 0
      ? undefined
      : `${visibleLine(tool)} failed${exitCode === undefined ? '' : ` with exit code ${exitCode}`}: ${visibleLine(result)}`,
  ),
  line(AgentNudged, 'quiet', ({ code, text }) => `told the model ${code}: ${visibleLine(text)}`),
  line(
    FinishRefused,
    'quiet',
    ({ command }) => `not finished: ${visibleLine(command)} has not passed since the last change`,
  ),
  line(
    ChangeCaptured,
    'loud',
    ({ change, summary }) =>
      `proposes ${short(change.commit)}, ${describeDiffStat(change.files)}: ${visibleLine(summary)}`,
  ),
  line(
    ChangeMerged,
    'quiet',
    ({ change, reason }) =>
      `merged as ${short(change.commit)}, ${describeDiffStat(change.files)}: ${visibleLine(reason)}`,
  ),
  line(
    CheckRan,
    'loud',
    ({ command, exitCode, timedOut, durationMs }) =>
      `check ${visibleLine(command)} ${timedOut ? 'timed out' : exitCode === 0 ? 'passed' : `failed with exit code ${exitCode}`} in ${describeDuration(durationMs)}`,
  ),
  line(
    ReviewWritten,
    'loud',
    ({ verdict, findings, summary }) =>
      `review: ${verdict === 'approve' ? 'approves' : 'requests changes'}, ${findings.length} ${findings.length === 1 ? 'finding' : 'findings'}: ${visibleLine(summary)}`,
  ),
  line(TurnAwaited, 'quiet', ({ behind }) => `waits for its turn on the branch, behind ${behind}`),
  line(
    GateOpened,
    'loud',
    ({ question, change, gateId }) =>
      `asks: ${visibleLine(question)} ${describeDiffStat(change.files)}, commit ${short(change.commit)} (${gateId})`,
  ),
  line(
    GateDecided,
    'loud',
    ({ decision, by, comment }) =>
      `${decisionWords[decision]} by ${by}${comment === undefined ? '' : `: ${visibleLine(comment)}`}`,
  ),
  line(CancelRequested, 'loud', ({ by }) => `${by} asks it to stop`),
  line(
    ChangeLanded,
    'loud',
    ({ branch, commit, how }) => `landed ${short(commit)} on ${visibleLine(branch)} (${how.replace('_', ' ')})`,
  ),
  line(SummaryWritten, 'loud', ({ summary }) => `summary: ${visibleLine(summary)}`),
  line(RunEnded, 'loud', ({ result, commit, message, advice }) =>
    [`ended: ${result.replace('_', ' ')}`, commit, message, advice]
      .filter((part) => part !== undefined)
      .map((part) => visibleLine(part))
      .join('. '),
  ),
]);

/**
 * One line on what an entry of the log tells a person; undefined for what is bookkeeping. Hidden signs are shown. `startedAt`
 * is when the step of the entry was begun, where that was seen.
 */
export function describeEvent(entry: LogEvent, startedAt?: string): EventLine | undefined {
  return table.get(entry.type)?.(entry, startedAt);
}

function describeOutcome(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'done':
      return 'done';
    case 'no_changes':
      return `nothing to change: ${visibleLine(outcome.reason)}`;
    case 'changes_requested':
      return `changes requested, ${outcome.findings.length} findings`;
    case 'conflict':
      return `conflict with ${short(outcome.head)} in ${visibleLine(outcome.paths.join(', '))}`;
    case 'unverified':
      return 'must be checked again on what the branch has become';
    case 'parked':
      return `parked: ${visibleLine(outcome.reason)}`;
    case 'limit_reached':
      return `limit reached: ${visibleLine(outcome.limit)}`;
    case 'cancelled':
      return 'cancelled';
    case 'failed':
      return `failed: ${outcome.code} ${visibleLine(outcome.message)}`;
  }
}
