import type { RunId, TraceContext } from '@flotilla/contracts/ids';
import type { KeptPayload } from './append-log.ts';
import type { Lease } from './lease.ts';
import type { Query } from './queries.ts';

/** Entries of one run. */
export interface LogToAppend {
  readonly runId: RunId;
  /** They are written only while it is current. */
  readonly lease: Lease | undefined;
  readonly trace: TraceContext | undefined;
  readonly at: Date;
  readonly entries: readonly (KeptPayload & {
    readonly type: string;
    readonly stepId: string | null;
    readonly attempt: number | null;
  })[];
}

/** Writes the entries of different runs and gives the last sequence of each; undefined where its lease was lost and nothing was written. */
export async function appendLogs(query: Query, logs: readonly LogToAppend[]): Promise<readonly (number | undefined)[]> {
  const flat = logs.flatMap((log) => log.entries.map((entry) => ({ log, entry })));
  const rows = await query<{ run: string; last: number }>(
    `with given as (
       select * from unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::integer[], $6::text[], $7::text[], $8::text[],
                            $9::text[], $10::text[], $11::timestamptz[])
         with ordinality as given (run, key, fence, step, attempt, type, payload, spill, traceparent, tracestate, at, place)),
     held as (
       select lease.key from flow.lease
         join (select distinct key, fence from given) as wanted on wanted.key = lease.key and wanted.fence = lease.fence
          for share of lease),
     allowed as (select * from given where key is null or key in (select key from held)),
     cursor as (
       insert into flow.cursor as cursor (run, last)
       select run, count(*)::integer from allowed group by run order by run
       on conflict (run) do update set last = cursor.last + excluded.last
       returning run, last),
     entry as (
       insert into flow.log (run, sequence, step, attempt, type, payload, spill, traceparent, tracestate, at)
       select run, cursor.last - count(*) over (partition by run) + row_number() over (partition by run order by place),
              step, attempt, type, payload::json, spill, traceparent, tracestate, at
         from allowed join cursor using (run))
     select run, last from cursor`,
    [
      flat.map(({ log }) => log.runId),
      flat.map(({ log }) => log.lease?.key ?? null),
      flat.map(({ log }) => log.lease?.fence ?? null),
      flat.map(({ entry }) => entry.stepId),
      flat.map(({ entry }) => entry.attempt),
      flat.map(({ entry }) => entry.type),
      flat.map(({ entry }) => entry.payload),
      flat.map(({ entry }) => entry.spill),
      flat.map(({ log }) => log.trace?.traceparent ?? null),
      flat.map(({ log }) => log.trace?.tracestate ?? null),
      flat.map(({ log }) => log.at),
    ],
  );
  const lastOf = new Map(rows.map(({ run, last }) => [run, last]));
  return logs.map(({ runId }) => lastOf.get(runId));
}
