import { type CommandOutput, ShowOutput } from '@flotilla/contracts/calls/show-output';
import { StepId } from '@flotilla/contracts/ids';
import { z } from 'zod';
import { exitCodes } from '../exit-codes.ts';
import { report, type Session } from '../session.ts';
import { describeDuration } from '../text/describe-amounts.ts';
import { visibleLine, visibleText } from '../text/visible-text.ts';
import { readGiven, type Verb } from '../verb.ts';
import { findRunId, runArgument, RunReference } from './find-run.ts';
import { Limit, Sequence, limitOption } from './limit.ts';

const Given = z.object({
  run: RunReference,
  step: StepId.optional(),
  after: Sequence.default(0),
  limit: Limit,
});

export const output: Verb = {
  name: 'output',
  summary: 'show what setup, checks and commands of the agent printed',
  arguments: [runArgument],
  options: [
    { flags: '-s, --step <step>', summary: 'only this step, for example review' },
    limitOption('commands'),
    { flags: '--after <sequence>', summary: 'only commands that ended after this entry of the log' },
  ],
  examples: [{ command: 'flotilla output latest --step review', summary: 'what the checks printed' }],
  json: 'the answer of the call showOutput',
  calls: ['showOutput'],
  run: async (given, session) => {
    const { run, step, after, limit } = readGiven('output', Given, given);
    const runId = await findRunId(run, session);
    const request = { runId, after, limit, ...(step === undefined ? {} : { stepId: step }) };
    const answer = await (await session.api()).call(ShowOutput, request);
    report(session, answer, () =>
      answer.outputs.length === 0
        ? 'nothing ran'
        : answer.outputs.map((each) => renderOutput(each, session)).join('\n\n'),
    );
    if (answer.next !== undefined && !session.json) session.note(`more with --after ${answer.next}`);
    return exitCodes.done.code;
  },
};

function renderOutput(output: CommandOutput, { palette }: Session): string {
  const { stepId, attempt, kind, command, exitCode, timedOut, durationMs } = output;
  const end = timedOut ? 'timed out' : exitCode === undefined ? '' : `exit code ${exitCode}`;
  const head = `${stepId}${attempt === 1 ? '' : ` (${attempt})`} ${kind}  ${visibleLine(command)}`;
  const tail = [end, describeDuration(durationMs)].filter((part) => part !== '').join(', ');
  return `${palette.bold(head)}  ${exitCode === 0 || exitCode === undefined ? palette.dim(tail) : palette.red(tail)}\n${visibleText(output.output).trimEnd()}`;
}
