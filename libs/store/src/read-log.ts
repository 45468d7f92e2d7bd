import type { RunId } from '@flotilla/contracts/ids';
import { LogEntry } from '@flotilla/contracts/log-entry';
import type { Query } from './queries.ts';
import type { Spills } from './spills.ts';
import type { ReadLogOptions } from './store.ts';

interface LogRow {
  readonly sequence: number;
  readonly step: string | null;
  readonly attempt: number | null;
  readonly type: string;
  readonly payload: unknown;
  readonly spill: string | null;
  readonly traceparent: string | null;
  readonly tracestate: string | null;
  readonly at: string;
}

const spillsReadAtOnce = 8;

export async function readLog(
  query: Query,
  spills: Spills,
  runId: RunId,
  { after = 0, limit = 1000, types, stepId, attempt }: ReadLogOptions = {},
): Promise<readonly LogEntry[]> {
  const rows = await query<LogRow>(
    `select sequence, step, attempt, type, payload, spill, traceparent, tracestate,
            to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at
       from flow.log
      where run = $1 and sequence > $2
        and ($4::text[] is null or type = any($4::text[]))
        and ($5::text is null or step = $5)
        and ($6::integer is null or attempt = $6)
      order by sequence limit $3`,
    [runId, after, limit, types ?? null, stepId ?? null, attempt ?? null],
  );
  const entries: LogEntry[] = [];
  for (let start = 0; start < rows.length; start += spillsReadAtOnce) {
    const part = rows.slice(start, start + spillsReadAtOnce);
    entries.push(...(await Promise.all(part.map(async (row) => toEntry(runId, row, await readPayload(spills, row))))));
  }
  return entries;
}

async function readPayload(spills: Spills, { payload, spill }: LogRow): Promise<unknown> {
  if (spill === null) return payload;
  return JSON.parse(new TextDecoder().decode(await spills.get(spill)));
}

function toEntry(runId: RunId, row: LogRow, payload: unknown): LogEntry {
  return LogEntry.parse({
    runId,
    sequence: row.sequence,
    type: row.type,
    payload,
    at: row.at,
    ...(row.step === null ? {} : { stepId: row.step }),
    ...(row.attempt === null ? {} : { attempt: row.attempt }),
    ...(row.traceparent === null
      ? {}
      : {
          trace: { traceparent: row.traceparent, ...(row.tracestate === null ? {} : { tracestate: row.tracestate }) },
        }),
  });
}
