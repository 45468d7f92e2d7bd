import { z } from 'zod';
import { defineCall } from '../define-call.ts';
import { RunId } from '../ids.ts';
import { Archive } from './run-view.ts';
import { Failure } from './shapes.ts';

/** Runs that one request may name. */
const ARCHIVE_LIMIT = 100;

const ArchivedRun = z
  .object({
    runId: RunId.meta({ field: 1 }),
    state: z
      .enum(['archived', 'due', 'kept'])
      .meta({ id: 'ArchiveState' })
      .meta({ field: 2, description: '`archived`: now or before. `due`: it would be. `kept`: it is as it was.' }),
    archive: Archive.optional().meta({ field: 3, description: 'Where an archived run is.' }),
    failure: Failure.optional().meta({ field: 4, description: 'Why a run is kept.' }),
  })
  .meta({ id: 'ArchivedRun' });
export type ArchivedRun = z.infer<typeof ArchivedRun>;

export const ArchiveRuns = defineCall({
  name: 'archiveRuns',
  kind: 'command',
  servedBy: 'router',
  answerLimitMs: 120_000,
  roles: ['operate'],
  summary:
    'Writes ended runs to files and takes their logs, gates and objects out of the fleet: those that are named, else the ones that ended longest ago. Safe to repeat.',
  http: { method: 'POST', path: '/v1/archive' },
  request: z.strictObject({
    runIds: z
      .array(RunId)
      .max(ARCHIVE_LIMIT)
      .default([])
      .meta({ field: 1, description: 'Only these, however old they are.' }),
    olderThanDays: z
      .int()
      .nonnegative()
      .max(36_500)
      .optional()
      .meta({ field: 2, description: 'Of no named ones: those that ended this long ago; default: as configured.' }),
    dryRun: z.boolean().default(false).meta({ field: 3, description: 'Only tell which ones it would be.' }),
    limit: z.int().min(1).max(ARCHIVE_LIMIT).default(ARCHIVE_LIMIT).meta({ field: 4, description: 'Runs at most.' }),
  }),
  response: z.object({
    runs: z.array(ArchivedRun).meta({ field: 1, description: 'Oldest first, or as named.' }),
    more: z
      .boolean()
      .meta({ field: 2, description: 'True where more are due, or named and not looked at: ask once more.' }),
  }),
  errors: [
    'ARCHIVE_AGE_MISSING',
    'ARCHIVE_DIRECTORY_MISSING',
    'ARCHIVE_NOT_WRITTEN',
    'ARCHIVE_LOG_CHANGED',
    'ARCHIVE_BUSY',
    'ARCHIVE_RETRY_UNDER_WAY',
    'RUN_UNKNOWN',
    'RUN_NOT_ENDED',
  ],
  cli: { verb: 'archive' },
  example: {
    request: { olderThanDays: 90 },
    response: {
      runs: [
        {
          runId: 'run_01j9z3k8m2n4p6q8r0s2t4v6w8',
          state: 'archived',
          archive: {
            file: '2030-01/run_01j9z3k8m2n4p6q8r0s2t4v6w8.jsonl.gz',
            at: '2030-04-02T00:00:00.000Z',
          },
        },
      ],
      more: false,
    },
  },
});
