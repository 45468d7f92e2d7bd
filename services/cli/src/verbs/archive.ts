import { type ArchivedRun, ArchiveRuns } from '@flotilla/contracts/calls/archive-runs';
import type { RequestInputOf } from '@flotilla/contracts/define-call';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { z } from 'zod';
import { exitCodes } from '../exit-codes.ts';
import { report, type Session } from '../session.ts';
import { nameCommands } from '../text/name-command.ts';
import { renderTable } from '../text/render-table.ts';
import { visibleLine } from '../text/visible-text.ts';
import { readGiven, type Verb } from '../verb.ts';
import { findRunId, RunReference } from './find-run.ts';

const days = 'days, such as 90d';
const Given = z.object({
  runs: z.array(RunReference).default([]),
  olderThan: z
    .string()
    .regex(/^\d{1,5}d$/, days)
    .transform((text) => Number(text.slice(0, -1)))
    .optional(),
  dryRun: z.boolean().default(false),
});

export const archive: Verb = {
  name: 'archive',
  summary: 'write ended runs to files, and take their logs, gates and objects out of the fleet',
  arguments: [{ name: 'runs', summary: 'ids of runs, however old they are', optional: true, repeatable: true }],
  options: [
    {
      flags: '--older-than <days>',
      summary:
        'all that ended this long ago, such as 90d; without it and without runs: FLOTILLA_ARCHIVE_AFTER_DAYS, unless that is 0',
    },
    { flags: '--dry-run', summary: 'only tell which ones it would be' },
  ],
  examples: [
    { command: 'flotilla archive --older-than 90d --dry-run', summary: 'which ones it would be' },
    {
      command: 'flotilla archive run_01j9z3k8m2n4p6q8r0s2t4v6w8',
      summary: 'one run, which show then says the file of',
    },
  ],
  json: 'the answer of the call archiveRuns, of all its parts together',
  calls: ['archiveRuns'],
  run: async (given, session) => {
    const { runs: named, olderThan, dryRun } = readGiven('archive', Given, given);
    if (named.length > 0 && olderThan !== undefined)
      throw new FlotillaError(errors.usageInvalid, { verb: 'archive', reason: 'name runs or an age, not both' });
    const runIds = await Promise.all(named.map((run) => findRunId(run, session)));
    const wanted = { dryRun, ...(olderThan === undefined ? {} : { olderThanDays: olderThan }) };
    const answer = runIds.length > 0 ? await askNamed(runIds, dryRun, session) : await askDue(wanted, session);
    report(session, answer, () => render(answer.runs, session));
    if (answer.more && !session.json) session.note('more are due');
    return answer.runs.some(({ state }) => state === 'kept') ? exitCodes.refused.code : exitCodes.done.code;
  },
};

interface Answer {
  readonly runs: readonly ArchivedRun[];
  readonly more: boolean;
}

/** Part by part, until every one was looked at. */
async function askNamed(runIds: readonly ArchivedRun['runId'][], dryRun: boolean, session: Session): Promise<Answer> {
  const api = await session.api();
  const runs: ArchivedRun[] = [];
  while (runs.length < runIds.length) {
    const answer = await api.call(ArchiveRuns, { runIds: runIds.slice(runs.length, runs.length + 100), dryRun });
    if (answer.runs.length === 0) break;
    runs.push(...answer.runs);
  }
  return { runs, more: false };
}

/** Until none is due; one answer where nothing is done, or nothing was. */
async function askDue(request: RequestInputOf<typeof ArchiveRuns>, session: Session): Promise<Answer> {
  const api = await session.api();
  const runs: ArchivedRun[] = [];
  for (;;) {
    const answer = await api.call(ArchiveRuns, request);
    runs.push(...answer.runs);
    const got = answer.runs.filter(({ state }) => state === 'archived').length;
    if (!answer.more || got === 0) return { runs, more: answer.more };
    if (!session.json) session.note(`${runs.length} archived so far`);
  }
}

function render(runs: readonly ArchivedRun[], { columns, command }: Session): string {
  if (runs.length === 0) return 'no run is due';
  const cells = runs.map(({ runId, state, archive: place }) => [runId, state, visibleLine(place?.file ?? '')]);
  const why = runs.flatMap(({ failure }) =>
    failure === undefined
      ? []
      : [
          '',
          visibleLine(`${failure.code}: ${failure.message}`, 2000),
          `  ${visibleLine(nameCommands(failure.advice, command), 2000)}`,
        ],
  );
  return [renderTable(['RUN', 'STATE', 'FILE'], cells, columns()), ...why].join('\n');
}
