import type { Queries } from './queries.ts';

/** A message that was committed and waits for the broker. */
export interface OutboxRow {
  readonly id: string;
  readonly messageId: string;
  readonly subject: string;
  /** JSON. */
  readonly payload: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface TakeOptions {
  /** Rows younger than this are left to the process that committed them; rows taken are not given out again for as long. */
  readonly olderThanMs: number;
  readonly limit: number;
  /** Subjects that the caller may publish, with NATS wildcards. Default: all. */
  readonly subjects?: readonly string[];
}

/** Takes rows that nobody published, oldest first. Two callers at once get different rows. */
export async function takeUnpublished(
  store: Queries,
  { olderThanMs, limit, subjects = ['>'] }: TakeOptions,
): Promise<readonly OutboxRow[]> {
  const rows = await store.query<OutboxRow>(
    `update flow.outbox set taken_at = clock_timestamp()
      where id in (
        select id from flow.outbox
         where published_at is null
           and coalesce(taken_at, created_at) <= clock_timestamp() - $1 * interval '1 millisecond'
           and subject ~ any($3::text[])
         order by id limit $2 for update skip locked)
     returning id, message_id as "messageId", subject, payload, headers`,
    [olderThanMs, limit, subjects.map(subjectExpression)],
  );
  return rows.toSorted((left, right) => Number(left.id) - Number(right.id));
}

export async function markPublished(store: Queries, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await store.query('update flow.outbox set published_at = clock_timestamp() where id = any($1::bigint[])', [ids]);
}

/**
 * Gives the answers to a handled message to the broker once more, for a broker that lost them. They are published by the
 * sweeper; the broker drops what it still knows. Returns how many there are.
 */
export async function republishAnswers(store: Queries, messageId: string): Promise<number> {
  const rows = await store.query(
    'update flow.outbox set published_at = null, taken_at = null where cause = $1 and published_at is not null returning 1',
    [messageId],
  );
  return rows.length;
}

/** Age of the oldest row that waits, and how many wait. */
export async function readOutboxLag(store: Queries): Promise<{ readonly waiting: number; readonly oldestMs: number }> {
  const [row] = await store.query<{ waiting: number; oldest: number }>(
    `select count(*)::integer as waiting,
            coalesce(extract(epoch from clock_timestamp() - min(created_at)) * 1000, 0)::float8 as oldest
       from flow.outbox where published_at is null`,
  );
  return { waiting: row?.waiting ?? 0, oldestMs: Math.max(0, Math.round(row?.oldest ?? 0)) };
}

const prunedAtOnce = 10_000;

/** Forgets published rows and handled messages older than `days`, and leases that ended long ago; a bounded number of rows a statement. */
export async function pruneFlow(store: Queries, { days }: { readonly days: number }): Promise<void> {
  // The time of the statement is one, which an index is asked for; the time of the clock would be another for each row.
  const old = "now() - $1 * interval '1 day'";
  const prune = async (table: string, column: string) => {
    const chosen = `select ctid from ${table} where ${column} < ${old} limit ${prunedAtOnce}`;
    for (;;) {
      const gone = await store.query(`delete from ${table} where ctid = any(array(${chosen})) returning 1`, [days]);
      if (gone.length < prunedAtOnce) return;
    }
  };
  await prune('flow.outbox', 'published_at');
  await prune('flow.inbox', 'handled_at');
  await prune('flow.lease', 'expires_at');
}

/** A NATS subject pattern as a regular expression of Postgres. */
export function subjectExpression(pattern: string): string {
  const tokens = pattern.split('.').map((token) => {
    if (token === '*') return '[^.]+';
    if (token === '>') return '.+';
    return token.replace(/[^a-zA-Z0-9_-]/g, (character) => `\\${character}`);
  });
  return `^${tokens.join('\\.')}$`;
}
