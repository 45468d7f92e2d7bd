import { GateState } from '@flotilla/contracts/calls/gate-view';
import { ListGates } from '@flotilla/contracts/calls/list-gates';
import { z } from 'zod';
import { exitCodes } from '../exit-codes.ts';
import { report } from '../session.ts';
import { describeSpan } from '../text/describe-amounts.ts';
import { describeDiffStat } from '../text/render-diff.ts';
import { renderTable } from '../text/render-table.ts';
import { visibleLine } from '../text/visible-text.ts';
import { readGiven, type Verb } from '../verb.ts';
import { Limit, limitOption } from './limit.ts';
import { oneOf } from './one-of.ts';

const Given = z.object({
  project: z.string().optional(),
  state: oneOf(GateState.options).default('open'),
  limit: Limit,
});

export const gates: Verb = {
  name: 'gates',
  summary: 'list the questions that wait for a person',
  arguments: [],
  options: [
    { flags: '-p, --project <name>', summary: 'only gates of this project' },
    { flags: '--state <state>', summary: 'open, decided or withdrawn; default open' },
    limitOption('gates'),
  ],
  examples: [{ command: 'flotilla gates', summary: 'what waits for you' }],
  json: 'the answer of the call listGates',
  calls: ['listGates'],
  run: async (given, session) => {
    const answer = await (await session.api()).call(ListGates, readGiven('gates', Given, given));
    const now = session.now().toISOString();
    report(session, answer, () =>
      answer.gates.length === 0
        ? 'nothing waits'
        : renderTable(
            ['RUN', 'PROJECT', 'AGE', 'CHANGE', 'QUESTION'],
            answer.gates.map((gate) => [
              gate.runId,
              gate.project,
              describeSpan(gate.openedAt, now),
              describeDiffStat(gate.change.files),
              visibleLine(`${gate.question} ${gate.goal}`),
            ]),
            session.columns(),
          ),
    );
    return exitCodes.done.code;
  },
};
