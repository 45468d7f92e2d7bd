import { DeadId } from '@flotilla/contracts/calls/dead-view';
import { ListDead } from '@flotilla/contracts/calls/list-dead';
import { ReplayDead } from '@flotilla/contracts/calls/replay-dead';
import { ShowDead } from '@flotilla/contracts/calls/show-dead';
import { z } from 'zod';
import { exitCodes } from '../exit-codes.ts';
import { report } from '../session.ts';
import { describeSpan } from '../text/describe-amounts.ts';
import { renderTable } from '../text/render-table.ts';
import { visibleLine, visibleText } from '../text/visible-text.ts';
import { readGiven, type Verb, type VerbArgument } from '../verb.ts';
import { Limit, limitOption } from './limit.ts';

const letter: VerbArgument = { name: 'letter', summary: 'number of the dead letter' };
const Letter = z.object({ letter: z.coerce.number('a whole number').pipe(DeadId) });
const Page = z.object({ limit: Limit, before: z.coerce.number('a whole number').pipe(DeadId).optional() });

export const listDead: Verb = {
  name: 'dead list',
  summary: 'list messages that no service could handle',
  arguments: [],
  options: [limitOption('letters'), { flags: '--before <letter>', summary: 'only letters older than this one' }],
  examples: [{ command: 'flotilla dead list', summary: 'newest first; they are kept for 30 days' }],
  json: 'the answer of the call listDead',
  calls: ['listDead'],
  run: async (given, session) => {
    const answer = await (await session.api()).call(ListDead, readGiven('dead list', Page, given));
    const now = session.now().toISOString();
    report(session, answer, () =>
      answer.letters.length === 0
        ? 'no dead letters'
        : renderTable(
            ['LETTER', 'STAGE', 'AGE', 'CODE', 'REASON'],
            answer.letters.map(({ deadId, stage, at, code, message }) => [
              String(deadId),
              visibleLine(stage),
              describeSpan(at, now),
              visibleLine(code),
              visibleLine(message),
            ]),
            session.columns(),
          ),
    );
    if (answer.next !== undefined && !session.json) session.note(`more with --before ${answer.next}`);
    return exitCodes.done.code;
  },
};

export const showDead: Verb = {
  name: 'dead show',
  summary: 'show one dead letter with what it said',
  arguments: [letter],
  options: [],
  examples: [{ command: 'flotilla dead show 7', summary: 'its cause, headers and payload' }],
  json: 'the answer of the call showDead',
  calls: ['showDead'],
  run: async (given, session) => {
    const { letter: deadId } = readGiven('dead show', Letter, given);
    const answer = await (await session.api()).call(ShowDead, { deadId });
    const { letter: found, headers, payload, payloadBytes, truncated } = answer;
    report(session, answer, () =>
      visibleText(
        [
          `${found.deadId}  ${found.stage}  ${found.subject}`,
          `${found.code}: ${found.message}`,
          found.advice,
          `after ${found.deliveries} deliveries, ${found.at}${found.runId === undefined ? '' : `, ${found.runId}`}`,
          '',
          ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
          '',
          ...(payloadBytes === 0 ? ['the message is empty'] : []),
          ...(truncated ? [`the message has ${payloadBytes} bytes, of which only the beginning is kept:`] : []),
          ...(payloadBytes === 0 ? [] : [JSON.stringify(payload, undefined, 2)]),
        ].join('\n'),
      ),
    );
    return exitCodes.done.code;
  },
};

export const replayDead: Verb = {
  name: 'dead replay',
  summary: 'send a dead task to the queue again, once its cause is gone',
  arguments: [letter],
  options: [],
  examples: [{ command: 'flotilla dead replay 7', summary: 'for example after adding the missing project' }],
  json: 'the answer of the call replayDead',
  calls: ['replayDead'],
  run: async (given, session) => {
    const { letter: deadId } = readGiven('dead replay', Letter, given);
    const answer = await (await session.api()).call(ReplayDead, { deadId });
    report(session, answer, () => `sent again as ${visibleLine(answer.messageId)}`);
    return exitCodes.done.code;
  },
};
