import type { ResponseOf } from '@flotilla/contracts/define-call';
import { ShowRun, type TimelineStep } from '@flotilla/contracts/calls/show-run';
import { z } from 'zod';
import { exitCodes } from '../exit-codes.ts';
import { report, type Session } from '../session.ts';
import { describeSpan, describeSpending } from '../text/describe-amounts.ts';
import { describeState, stateWords } from '../text/describe-run-state.ts';
import { nameCommands } from '../text/name-command.ts';
import type { Palette } from '../text/paint.ts';
import { renderDecision } from '../text/render-decision.ts';
import { describeDiffStat } from '../text/render-diff.ts';
import { renderTable } from '../text/render-table.ts';
import { visibleLine } from '../text/visible-text.ts';
import { readGiven, type Verb } from '../verb.ts';
import { findRunId, runArgument, RunReference } from './find-run.ts';

const Given = z.object({ run: RunReference });

export const show: Verb = {
  name: 'show',
  summary: 'show one run: state, steps with durations, what it spent, who decided what at its gates',
  arguments: [runArgument],
  options: [],
  examples: [
    { command: 'flotilla show run_01j9z3k8m2n4p6q8r0s2t4v6w8', summary: 'one run' },
    { command: 'flotilla show latest --json', summary: 'the newest run, for a script' },
  ],
  words: { title: 'State of the run', meanings: stateWords },
  json: 'the answer of the call showRun',
  calls: ['showRun'],
  run: async (given, session) => {
    const runId = await findRunId(readGiven('show', Given, given).run, session);
    const answer = await (await session.api()).call(ShowRun, { runId });
    report(session, answer, () => renderRun(answer, session));
    return exitCodes.done.code;
  },
};

function renderRun(answer: ResponseOf<typeof ShowRun>, session: Session): string {
  const { palette, command } = session;
  const now = session.now().toISOString();
  const { run, budget, timeline, gate, decisions, branch, traceId, retryOf, externalKey } = answer;
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['goal', visibleLine(run.goal, 2000)],
    ['project', run.project],
    ['branch', branch === undefined ? undefined : visibleLine(branch)],
    ['topology', `${run.topology}, mode ${run.mode}`],
    ['asked by', run.principal],
    ['key', externalKey === undefined ? undefined : visibleLine(externalKey)],
    ['retry of', retryOf],
    ['took', describeSpan(run.createdAt, run.endedAt ?? now)],
    ['spent', describeSpending(run.spent)],
    [
      'budget',
      `${budget.turns} turns, ${budget.calls} calls, ${budget.tokens} tokens, $${budget.microdollars / 1_000_000}`,
    ],
    ['commit', run.commit],
    ['archive', run.archive === undefined ? undefined : visibleLine(run.archive.file)],
    ['trace', traceId],
  ];
  return [
    `${palette.bold(run.runId)}  ${paintState(describeState(run), run.result, palette)}`,
    ...facts.flatMap(([name, value]) => (value === undefined ? [] : [`  ${name.padEnd(9)} ${value}`])),
    ...(run.failure === undefined
      ? []
      : [
          '',
          palette.red(`${run.failure.code}: ${visibleLine(run.failure.message, 2000)}`),
          `  ${visibleLine(nameCommands(run.failure.advice, command), 2000)}`,
        ]),
    '',
    run.archive === undefined
      ? renderTable(
          ['STEP', 'OUTCOME', 'TOOK', 'SPENT'],
          timeline.map((step) => describeStep(step, now)),
          session.columns(),
        )
      : `archived ${run.archive.at}: its log, gates and change are in that file below the archive directory of the router; zcat prints it`,
    ...(decisions.length === 0 ? [] : ['', ...decisions.flatMap(renderDecision)]),
    ...(gate === undefined
      ? []
      : [
          '',
          palette.yellow(`? ${visibleLine(gate.question)}`),
          `  ${describeDiffStat(gate.change.files)}, commit ${gate.change.commit}`,
          `  ${command} diff ${run.runId}`,
          `  ${command} approve ${run.runId}`,
        ]),
  ].join('\n');
}

function describeStep(step: TimelineStep, now: string): readonly string[] {
  const { stepId, attempt, outcome, failure, requestedAt, startedAt, completedAt, spent } = step;
  return [
    attempt === 1 ? stepId : `${stepId} (${attempt})`,
    failure?.code ?? outcome ?? (startedAt === undefined ? 'waiting' : 'at work'),
    describeSpan(startedAt ?? requestedAt, completedAt ?? now),
    spent === undefined || spent.turns === 0 ? '' : describeSpending(spent),
  ];
}

function paintState(text: string, result: string | undefined, palette: Palette): string {
  if (result === undefined) return palette.cyan(text);
  return result === 'landed' || result === 'no_changes' ? palette.green(text) : palette.red(text);
}
