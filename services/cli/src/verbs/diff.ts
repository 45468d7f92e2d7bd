import { ShowDiff } from '@flotilla/contracts/calls/show-diff';
import { z } from 'zod';
import { exitCodes } from '../exit-codes.ts';
import { report } from '../session.ts';
import { renderDiff, renderDiffStat } from '../text/render-diff.ts';
import { readGiven, type Verb } from '../verb.ts';
import { findRunId, runArgument, RunReference } from './find-run.ts';

const Given = z.object({ run: RunReference, stat: z.boolean().default(false), raw: z.boolean().default(false) });

export const diff: Verb = {
  name: 'diff',
  summary: 'show what a run proposes, or what it landed',
  arguments: [runArgument],
  options: [
    { flags: '--stat', summary: 'files and counts only' },
    {
      flags: '--raw',
      summary: 'byte for byte, for git apply; otherwise hidden characters are shown as \\u{…}',
      excludes: ['--stat'],
    },
  ],
  examples: [
    { command: 'flotilla diff latest', summary: 'what is proposed' },
    { command: 'flotilla diff latest --raw | git apply --check', summary: 'try it on a clone of your own' },
  ],
  calls: ['showDiff'],
  run: async (given, session) => {
    const { run, stat, raw } = readGiven('diff', Given, given);
    const runId = await findRunId(run, session);
    const answer = await (await session.api()).call(ShowDiff, { runId });
    if (raw && !session.json) {
      session.write(answer.diff);
      return exitCodes.done.code;
    }
    report(session, answer, () => {
      if (answer.state === 'none') return 'nothing is proposed yet';
      return stat ? renderDiffStat(answer.files, session.palette) : renderDiff(answer.diff.trimEnd(), session.palette);
    });
    if (answer.truncated) session.note('the diff is longer than the log keeps; the rest is on the branch');
    return exitCodes.done.code;
  },
};
