import { resolve } from 'node:path';
import { SalvageRun } from '@flotilla/contracts/calls/salvage-run';
import type { ResponseOf } from '@flotilla/contracts/define-call';
import { StepId } from '@flotilla/contracts/ids';
import { z } from 'zod';
import { exitCodes } from '../exit-codes.ts';
import { report, type Session } from '../session.ts';
import { describeDiffStat, renderDiff } from '../text/render-diff.ts';
import { visibleLine } from '../text/visible-text.ts';
import { readGiven, type Verb } from '../verb.ts';
import { writeWhole } from '../write-whole.ts';
import { findRunId, runArgument, RunReference } from './find-run.ts';

const Given = z.object({ run: RunReference, step: StepId.optional(), out: z.string().min(1).optional() });

export const salvage: Verb = {
  name: 'salvage',
  summary: 'show the newest work of a run that was kept, however it ended',
  arguments: [runArgument],
  options: [
    { flags: '-s, --step <step>', summary: 'only work of this step, for example build' },
    { flags: '--out <file>', summary: 'write it to a file byte for byte, for git apply' },
  ],
  examples: [
    { command: 'flotilla salvage latest', summary: 'what the agent had done when its step ended' },
    { command: 'flotilla salvage latest --out work.patch', summary: 'take it over: git apply work.patch' },
  ],
  json: 'the answer of the call salvageRun',
  calls: ['salvageRun'],
  run: async (given, session) => {
    const { run, step, out } = readGiven('salvage', Given, given);
    const runId = await findRunId(run, session);
    const request = { runId, ...(step === undefined ? {} : { stepId: step }) };
    const answer = await (await session.api()).call(SalvageRun, request);
    const file = out === undefined || answer.state === 'none' ? undefined : resolve(session.workingDirectory, out);
    if (file !== undefined) await writePatchFile(file, answer, session);
    report(session, answer, () => {
      if (answer.state === 'none') return 'nothing was kept: no agent changed a file';
      if (file !== undefined) return `${describeWork(answer)}; written to ${file}`;
      return renderDiff(answer.diff.trimEnd(), session.palette);
    });
    if (session.json || answer.state === 'none' || file !== undefined) return exitCodes.done.code;
    session.note(describeWork(answer));
    if (answer.truncated) session.note('the diff is cut here; --out <file> writes all of it');
    return exitCodes.done.code;
  },
};

type Salvaged = ResponseOf<typeof SalvageRun>;

function describeWork({ stepId, attempt = 1, turn, base, files }: Salvaged): string {
  const step = `${String(stepId)}${attempt === 1 ? '' : ` (${attempt})`}`;
  const when = turn === undefined ? `handed in by ${step}` : `kept after turn ${turn} of ${step}`;
  return visibleLine(`${describeDiffStat(files)}, ${when}, on ${String(base).slice(0, 12)}`);
}

/** All parts of one commit's patch, whatever the run keeps meanwhile. */
async function writePatchFile(path: string, first: Salvaged, session: Session): Promise<void> {
  const api = await session.api();
  await writeWhole(path, async (write) => {
    for (let part = first; ;) {
      await write(Buffer.from(part.patch, 'base64'));
      if (part.next === undefined || part.commit === undefined) return;
      part = await api.call(SalvageRun, { runId: part.runId, commit: part.commit, offset: part.next });
    }
  });
}
