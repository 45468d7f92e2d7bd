import { ListEvents } from '@flotilla/contracts/calls/list-events';
import type { LogEvent } from '@flotilla/contracts/calls/log-event';
import { StepId } from '@flotilla/contracts/ids';
import { z } from 'zod';
import { exitCodes } from '../exit-codes.ts';
import { report } from '../session.ts';
import { visibleLine } from '../text/visible-text.ts';
import { readGiven, type Verb } from '../verb.ts';
import { findRunId, runArgument, RunReference } from './find-run.ts';
import { Limit, Sequence, limitOption } from './limit.ts';

const Given = z.object({
  run: RunReference,
  type: z.array(z.string()).default([]),
  step: StepId.optional(),
  after: Sequence.default(0),
  limit: Limit.default(200),
});

export const events: Verb = {
  name: 'events',
  summary: 'read the log of a run, entry by entry',
  arguments: [runArgument],
  options: [
    { flags: '-t, --type <type>', summary: 'only entries of this type, for example tool.finished', repeatable: true },
    { flags: '-s, --step <step>', summary: 'only entries of this step' },
    { flags: '--after <sequence>', summary: 'only entries after this one' },
    limitOption('entries', 200),
  ],
  examples: [
    { command: 'flotilla events latest --type door.request', summary: 'what asked for the network' },
    {
      command: 'flotilla events latest --json | jq \'.entries[] | select(.type == "agent.turn")\'',
      summary: 'what the model said',
    },
  ],
  json: 'the answer of the call listEvents',
  calls: ['listEvents'],
  run: async (given, session) => {
    const { run, type, step, after, limit } = readGiven('events', Given, given);
    const runId = await findRunId(run, session);
    const request = { runId, type, after, limit, ...(step === undefined ? {} : { stepId: step }) };
    const answer = await (await session.api()).call(ListEvents, request);
    report(session, answer, () =>
      answer.entries.length === 0
        ? 'no entries'
        : answer.entries.map((each) => renderEntry(each, session.columns())).join('\n'),
    );
    if (answer.next !== undefined && !session.json) session.note(`more with --after ${answer.next}`);
    return exitCodes.done.code;
  },
};

function renderEntry({ sequence, at, stepId, attempt, type, payload }: LogEvent, columns: number): string {
  const place = stepId === undefined ? '' : `${stepId}.${attempt ?? ''}`;
  const head = `${String(sequence).padStart(5)}  ${at}  ${place.padEnd(12)}  ${type.padEnd(20)}  `;
  return head + visibleLine(JSON.stringify(payload), Math.max(40, columns - head.length));
}
