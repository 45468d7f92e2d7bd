import { z } from 'zod';
import { readGiven, type Verb } from '../verb.ts';
import { showWatch } from '../watch/show-watch.ts';
import { Sequence } from './limit.ts';
import { findRunId, runArgument, RunReference } from './find-run.ts';

const Given = z.object({
  run: RunReference,
  after: Sequence.optional(),
  ask: z.boolean().default(true),
});

export const watch: Verb = {
  name: 'watch',
  summary: 'show a run as it goes, until it has ended; the exit code is the result',
  arguments: [runArgument],
  options: [
    { flags: '--after <sequence>', summary: 'only what follows this entry of the log; default: from the start' },
    { flags: '--no-ask', summary: 'do not ask at the gate' },
  ],
  examples: [
    { command: 'flotilla watch latest', summary: 'the newest run; on a terminal it asks the question of the gate' },
    { command: 'flotilla watch latest --no-ask | tee run.log', summary: 'one line an event' },
    { command: 'flotilla watch latest --json', summary: 'one JSON document an event' },
  ],
  calls: ['watchRun', 'showGate', 'decideGate', 'showDiff'],
  run: async (given, session) => {
    const { run, after, ask } = readGiven('watch', Given, given);
    const runId = await findRunId(run, session);
    return showWatch({ runId, ask, ...(after === undefined ? {} : { after }) }, session);
  },
};
