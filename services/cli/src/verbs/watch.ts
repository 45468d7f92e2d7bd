import { z } from 'zod';
import { readGiven, type Verb } from '../verb.ts';
import { showWatch } from '../watch/show-watch.ts';
import { Sequence } from './limit.ts';
import { findRunId, runArgument, RunReference } from './find-run.ts';

const Given = z.object({
  run: RunReference,
  after: Sequence.optional(),
  ask: z.boolean().default(true),
  untilGate: z.boolean().default(false),
});

export const watch: Verb = {
  name: 'watch',
  summary: 'show a run as it goes, until it has ended; the exit code is the result',
  arguments: [runArgument],
  options: [
    { flags: '--after <sequence>', summary: 'only what follows this entry of the log; default: from the start' },
    { flags: '--no-ask', summary: 'wait at the gate without asking' },
    {
      flags: '--until-gate',
      summary: 'end at a gate that is open, with exit code 6, in the place of asking or waiting',
      excludes: ['--no-ask'],
    },
  ],
  examples: [
    { command: 'flotilla watch latest', summary: 'the newest run; on a terminal it asks the question of the gate' },
    { command: 'flotilla watch latest --no-ask | tee run.log', summary: 'one line an event' },
    {
      command: 'flotilla watch latest --until-gate; [ $? = 6 ] && flotilla diff latest',
      summary: 'for a script that decides',
    },
    { command: 'flotilla watch latest --json', summary: 'one JSON document an event' },
  ],
  json: 'one event of the call watchRun a line, as they come',
  calls: ['watchRun', 'showGate', 'decideGate', 'showDiff'],
  run: async (given, session) => {
    const { run, after, ask, untilGate } = readGiven('watch', Given, given);
    const runId = await findRunId(run, session);
    return showWatch({ runId, ask, untilGate, ...(after === undefined ? {} : { after }) }, session);
  },
};
