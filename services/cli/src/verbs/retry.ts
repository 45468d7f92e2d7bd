import { RetryRun } from '@flotilla/contracts/calls/retry-run';
import { z } from 'zod';
import { exitCodes } from '../exit-codes.ts';
import { tellFleet } from '../fleet/tell-fleet.ts';
import { report } from '../session.ts';
import { readGiven, type Verb } from '../verb.ts';
import { showWatch } from '../watch/show-watch.ts';
import { findRunId, runArgument, RunReference } from './find-run.ts';

const Given = z.object({
  run: RunReference,
  watch: z.boolean().default(false),
  ask: z.boolean().default(true),
  untilGate: z.boolean().default(false),
});

export const retry: Verb = {
  name: 'retry',
  summary: 'ask for the task of an ended run again, as a new run',
  arguments: [runArgument],
  options: [
    { flags: '-w, --watch', summary: 'show the new run until it has ended; the exit code is the result' },
    { flags: '--no-ask', summary: 'with --watch: wait at the gate without asking' },
    {
      flags: '--until-gate',
      summary: 'with --watch: end at a gate that is open, with exit code 6, in the place of asking or waiting',
      excludes: ['--no-ask'],
    },
  ],
  examples: [{ command: 'flotilla retry run_01j9z3k8m2n4p6q8r0s2t4v6w8 --watch', summary: 'try again and look on' }],
  json: 'the answer of the call retryRun; with --watch what watch prints',
  calls: ['retryRun', 'watchRun'],
  run: async (given, session) => {
    const { run, watch, ask, untilGate } = readGiven('retry', Given, given);
    await tellFleet(session);
    const runId = await findRunId(run, session);
    const answer = await (await session.api()).call(RetryRun, { runId });
    if (!answer.created && !session.json) session.note('it was retried already');
    if (watch) return showWatch({ runId: answer.runId, ask, untilGate }, session);
    report(session, answer, () => answer.runId);
    return exitCodes.done.code;
  },
};
