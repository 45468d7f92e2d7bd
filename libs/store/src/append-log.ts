import { createHash } from 'node:crypto';
import type { EventContract } from '@flotilla/contracts/define-event';
import type { RunId, TraceContext } from '@flotilla/contracts/ids';
import { eventCatalogue, type NewLogEntry } from '@flotilla/contracts/log-entry';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { type Lease, stepLeaseKey } from './lease.ts';
import type { Query } from './queries.ts';
import { SPILL_LIMIT_BYTES, type Spills } from './spills.ts';

const scopeOfType: ReadonlyMap<string, EventContract['scope']> = new Map(
  eventCatalogue.map(({ type, scope }) => [type, scope]),
);

export function scopeOf(type: string): EventContract['scope'] {
  return scopeOfType.get(type) ?? 'run';
}

export interface AppendFacts {
  readonly runId: RunId;
  readonly entries: readonly NewLogEntry[];
  readonly lease: Lease | undefined;
  readonly trace: TraceContext | undefined;
  readonly at: Date;
}

/** Writes entries with the next sequences of their run and returns the last one. Large payloads are stored before any row is locked. */
export async function appendLog(query: Query, spills: Spills, facts: AppendFacts): Promise<number> {
  const { runId, entries, lease, trace, at } = facts;
  if (entries.length === 0) throw new RangeError('appendLog needs at least one entry');
  requireLease(facts);
  const payloads = await Promise.all(entries.map(({ payload }) => keepPayload(spills, runId, payload)));
  if (lease !== undefined) await requireCurrent(query, lease);
  const [row] = await query<{ last: number }>(
    `with cursor as (
       insert into flow.cursor as cursor (run, last) values ($1, $2::integer)
       on conflict (run) do update set last = cursor.last + $2::integer
       returning last),
     entry as (
       insert into flow.log (run, sequence, step, attempt, type, payload, spill, traceparent, tracestate, at)
       select $1, cursor.last - $2::integer + given.place, given.step, given.attempt, given.type, given.payload::json,
              given.spill, $8, $9, $10
         from cursor,
              unnest($3::text[], $4::integer[], $5::text[], $6::text[], $7::text[])
                with ordinality as given (step, attempt, type, payload, spill, place))
     select last from cursor`,
    [
      runId,
      entries.length,
      entries.map(({ stepId }) => stepId ?? null),
      entries.map(({ attempt }) => attempt ?? null),
      entries.map(({ type }) => type),
      payloads.map(({ payload }) => payload),
      payloads.map(({ spill }) => spill),
      trace?.traceparent ?? null,
      trace?.tracestate ?? null,
      at,
    ],
  );
  if (row === undefined) throw new Error(`the cursor of ${runId} gave no sequence`);
  return row.last;
}

/** Throws LEASE_REQUIRED where entries about a step come without the lease of that step. */
export function requireLease({ runId, entries, lease }: Pick<AppendFacts, 'runId' | 'entries' | 'lease'>): void {
  for (const { type, stepId, attempt } of entries) {
    if (scopeOf(type) === 'run') continue;
    const key = stepLeaseKey({ runId, stepId: stepId ?? '?', attempt: attempt ?? 0 });
    if (lease?.key !== key) throw new FlotillaError(errors.leaseRequired, { type, key });
  }
}

/** The share lock keeps the lease from being given away before the entries are committed. */
export async function requireCurrent(query: Query, { key, fence }: Lease): Promise<void> {
  const rows = await query('select 1 from flow.lease where key = $1 and fence = $2 for share', [key, fence]);
  if (rows.length === 0) throw new FlotillaError(errors.leaseLost, { key, fence });
}

/** A payload as a row keeps it: itself, or the name of its spill. */
export interface KeptPayload {
  readonly payload: string | null;
  readonly spill: string | null;
}

/** Entries as rows keep them, with large payloads stored; do it before any row is locked. */
export function keepEntries(spills: Spills, runId: RunId, entries: readonly NewLogEntry[]) {
  return Promise.all(
    entries.map(async ({ type, stepId = null, attempt = null, payload }) => ({
      type,
      stepId,
      attempt,
      ...(await keepPayload(spills, runId, payload)),
    })),
  );
}

async function keepPayload(spills: Spills, runId: RunId, value: unknown): Promise<KeptPayload> {
  const payload = JSON.stringify(value);
  const bytes = new TextEncoder().encode(payload);
  if (bytes.length <= SPILL_LIMIT_BYTES) return { payload, spill: null };
  const name = `${runId}/${createHash('sha256').update(bytes).digest('hex')}`;
  await spills.put(name, bytes);
  return { payload: null, spill: name };
}
