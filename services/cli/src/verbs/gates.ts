import { type Gate, GateState } from '@flotilla/contracts/calls/gate-view';
import { ListGates } from '@flotilla/contracts/calls/list-gates';
import { z } from 'zod';
import { exitCodes } from '../exit-codes.ts';
import { report, type Session } from '../session.ts';
import { describeSpan } from '../text/describe-amounts.ts';
import { decisionWords } from '../text/render-decision.ts';
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
  summary: 'list the questions that wait for a person, or what was decided',
  arguments: [],
  options: [
    { flags: '-p, --project <name>', summary: 'only gates of this project' },
    { flags: '--state <state>', summary: 'open, decided or withdrawn; default open' },
    limitOption('gates'),
  ],
  examples: [
    { command: 'flotilla gates', summary: 'what waits for you' },
    { command: 'flotilla gates --state decided', summary: 'who decided what, with their words' },
  ],
  json: 'the answer of the call listGates',
  calls: ['listGates'],
  run: async (given, session) => {
    const request = readGiven('gates', Given, given);
    const answer = await (await session.api()).call(ListGates, request);
    report(session, answer, () => {
      if (answer.gates.length === 0) return request.state === 'open' ? 'nothing waits' : 'no gates';
      return request.state === 'decided' ? renderDecided(answer.gates, session) : renderAsked(answer.gates, session);
    });
    return exitCodes.done.code;
  },
};

function renderAsked(list: readonly Gate[], session: Session): string {
  const now = session.now().toISOString();
  return renderTable(
    ['RUN', 'PROJECT', 'AGE', 'CHANGE', 'QUESTION'],
    list.map((gate) => [
      gate.runId,
      gate.project,
      describeSpan(gate.openedAt, now),
      describeDiffStat(gate.change.files),
      visibleLine(`${gate.question} ${gate.goal}`),
    ]),
    session.columns(),
  );
}

function renderDecided(list: readonly Gate[], session: Session): string {
  const now = session.now().toISOString();
  return renderTable(
    ['RUN', 'PROJECT', 'AGE', 'DECISION', 'BY', 'COMMENT'],
    list.map(({ runId, project, decidedAt, decision, by, comment }) => [
      runId,
      project,
      decidedAt === undefined ? '' : describeSpan(decidedAt, now),
      decision === undefined ? '' : decisionWords[decision],
      by === undefined ? '' : visibleLine(by),
      comment === undefined ? '' : visibleLine(comment),
    ]),
    session.columns(),
  );
}
