import { CancelRun } from '@flotilla/contracts/calls/cancel-run';
import { z } from 'zod';
import { exitCodes } from '../exit-codes.ts';
import { tellFleet } from '../fleet/tell-fleet.ts';
import { report } from '../session.ts';
import { readGiven, type Verb } from '../verb.ts';
import { findRunId, runArgument, RunReference } from './find-run.ts';

const Given = z.object({ run: RunReference, reason: z.string().optional() });

export const cancel: Verb = {
  name: 'cancel',
  summary: 'ask a run to stop',
  arguments: [runArgument],
  options: [{ flags: '-m, --reason <text>', summary: 'why' }],
  examples: [{ command: 'flotilla cancel latest', summary: 'a step under way stops at its next call' }],
  json: 'the answer of the call cancelRun',
  calls: ['cancelRun'],
  run: async (given, session) => {
    const { run, reason } = readGiven('cancel', Given, given);
    await tellFleet(session);
    const runId = await findRunId(run, session);
    const answer = await (await session.api()).call(CancelRun, { runId, ...(reason === undefined ? {} : { reason }) });
    report(session, answer, () => `${answer.runId} ${answer.state}`);
    return exitCodes.done.code;
  },
};
