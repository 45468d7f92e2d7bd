import { ShowDiff } from '@flotilla/contracts/calls/show-diff';
import { ShowRun } from '@flotilla/contracts/calls/show-run';
import type { RunId } from '@flotilla/contracts/ids';
import { z } from 'zod';
import { exitCodes } from '../exit-codes.ts';
import { report, type Session } from '../session.ts';
import { explainRun } from '../text/describe-run-state.ts';
import { nameCommands } from '../text/name-command.ts';
import { renderDiff, renderDiffStat } from '../text/render-diff.ts';
import { visibleLine } from '../text/visible-text.ts';
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
  json: 'the answer of the call showDiff',
  calls: ['showDiff', 'showRun'],
  run: async (given, session) => {
    const { run, stat, raw } = readGiven('diff', Given, given);
    const runId = await findRunId(run, session);
    const answer = await (await session.api()).call(ShowDiff, { runId });
    if (!session.json && answer.state !== 'landed') await tellState(runId, answer.state, session);
    if (raw && !session.json) {
      session.write(answer.diff);
      return exitCodes.done.code;
    }
    if (answer.state === 'none' && !session.json) return exitCodes.done.code;
    report(session, answer, () =>
      stat ? renderDiffStat(answer.files, session.palette) : renderDiff(answer.diff.trimEnd(), session.palette),
    );
    if (answer.truncated && !session.json)
      session.note('the diff is longer than the log keeps; the rest is on the branch');
    return exitCodes.done.code;
  },
};

/** Says beside the result why there is none, or that it has not landed and will not. */
async function tellState(runId: RunId, state: 'none' | 'proposed', session: Session): Promise<void> {
  const { run } = await (await session.api()).call(ShowRun, { runId });
  if (state === 'proposed' && run.state !== 'ended') return;
  const told = explainRun(run);
  const what = state === 'none' ? 'nothing is proposed' : 'this was proposed and has not landed';
  session.note(visibleLine(`${what}: the run is ${told.state}`, 2000));
  session.note(`  ${nameCommands(told.next, session.command)}`);
}
