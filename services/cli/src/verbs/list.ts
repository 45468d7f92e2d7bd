import { ListRuns } from '@flotilla/contracts/calls/list-runs';
import { RunResult, RunState } from '@flotilla/contracts/calls/shapes';
import { RunId } from '@flotilla/contracts/ids';
import { z } from 'zod';
import { exitCodes } from '../exit-codes.ts';
import { report } from '../session.ts';
import { describeSpan } from '../text/describe-amounts.ts';
import { describeState, stateWords } from '../text/describe-run-state.ts';
import { renderTable } from '../text/render-table.ts';
import { visibleLine } from '../text/visible-text.ts';
import { readGiven, type Verb } from '../verb.ts';
import { Limit, limitOption } from './limit.ts';
import { oneOf } from './one-of.ts';

const Given = z.object({
  project: z.string().optional(),
  state: oneOf(RunState.options).optional(),
  result: oneOf(RunResult.options).optional(),
  limit: Limit,
  before: z.union([RunId], 'a run id looks like run_01j9z3k8m2n4p6q8r0s2t4v6w8').optional(),
});

export const list: Verb = {
  name: 'list',
  summary: 'list runs, newest first',
  arguments: [],
  options: [
    { flags: '-p, --project <name>', summary: 'only runs of this project' },
    { flags: '--state <state>', summary: 'running, at_gate, awaiting_turn, cancelling or ended' },
    { flags: '--result <result>', summary: 'landed, no_changes, declined, limit_reached, cancelled or failed' },
    limitOption('runs'),
    { flags: '--before <run>', summary: 'only runs older than this one' },
  ],
  examples: [
    { command: 'flotilla list --state at_gate', summary: 'runs that wait for a person' },
    { command: "flotilla list --json | jq -r '.runs[].runId'", summary: 'ids for a script' },
  ],
  words: { title: 'STATE', meanings: stateWords },
  json: 'the answer of the call listRuns',
  calls: ['listRuns'],
  run: async (given, session) => {
    const request = readGiven('list', Given, given);
    const answer = await (await session.api()).call(ListRuns, request);
    const now = session.now().toISOString();
    report(session, answer, () =>
      answer.runs.length === 0
        ? 'no runs'
        : renderTable(
            ['RUN', 'STATE', 'PROJECT', 'AGE', 'GOAL'],
            answer.runs.map((run) => [
              run.runId,
              describeState(run),
              run.project,
              describeSpan(run.createdAt, now),
              visibleLine(run.goal),
            ]),
            session.columns(),
          ),
    );
    if (answer.next !== undefined && !session.json) session.note(`more with --before ${answer.next}`);
    return exitCodes.done.code;
  },
};
