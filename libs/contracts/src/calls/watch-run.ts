import { z } from 'zod';
import { defineCall } from '../define-call.ts';
import { CommitId, RunId } from '../ids.ts';
import { exampleLogEvent, LogEvent } from './log-event.ts';
import { RunResult } from './shapes.ts';

const runId = RunId.meta({ field: 1 });

export const WatchEvent = z.discriminatedUnion('event', [
  z.object({ event: z.literal('entry'), entry: LogEvent.meta({ field: 1, description: 'The entry.' }) }).meta({
    id: 'WatchEntry',
    field: 1,
    description: 'The log grew by one entry. The id of the frame is its sequence.',
  }),
  z.object({ event: z.literal('live'), runId, text: z.string().meta({ field: 2, description: 'The piece.' }) }).meta({
    id: 'WatchLive',
    field: 2,
    description:
      'Words of the model and of setup as they come, in pieces; a form feed begins a turn. No id, never repeated.',
  }),
  z
    .object({
      event: z.literal('done'),
      runId,
      result: RunResult.meta({ field: 2, description: 'The end state.' }),
      commit: CommitId.optional().meta({ field: 3, description: 'The commit on the branch, where it landed.' }),
    })
    .meta({ id: 'WatchDone', field: 3, description: 'The run has ended and every entry was sent; nothing follows.' }),
]);
export type WatchEvent = z.infer<typeof WatchEvent>;

export const WatchRun = defineCall({
  name: 'watchRun',
  kind: 'stream',
  servedBy: 'gateway',
  roles: ['read'],
  summary:
    'Streams the log of a run as server-sent events, from its beginning or after `after`, until it has ended. The header Last-Event-ID, a sequence, stands for `after` and lets a client go on where its connection broke.',
  http: { method: 'GET', path: '/v1/runs/{runId}/events' },
  request: z.strictObject({
    runId: RunId.meta({ field: 1 }),
    after: z
      .int()
      .nonnegative()
      .optional()
      .meta({ field: 2, description: 'Only entries after this sequence; default 0.' }),
    live: z
      .boolean()
      .default(true)
      .meta({ field: 3, description: 'Whether to send the words of the model as they come.' }),
  }),
  response: WatchEvent,
  errors: ['RUN_UNKNOWN', 'RUN_ARCHIVED', 'LAST_EVENT_ID_INVALID'],
  cli: { verb: 'watch' },
  example: {
    request: { runId: 'run_01j9z3k8m2n4p6q8r0s2t4v6w8' },
    response: { event: 'entry', entry: exampleLogEvent },
  },
});
