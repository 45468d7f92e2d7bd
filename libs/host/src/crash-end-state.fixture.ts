import { streams } from '@flotilla/contracts/streams';
import type { Store } from '@flotilla/store/store';
import type { Broker } from '@flotilla/stream/connect-broker';

/** What there is once all is done, without what a death may change: how often something was delivered, begun or sent. */
export interface EndState {
  readonly log: readonly unknown[];
  readonly inbox: readonly unknown[];
  readonly leases: readonly unknown[];
  /** What was committed for the broker, by message id. */
  readonly outbox: readonly unknown[];
  /** What the broker holds, by message id: nothing, unless somebody published without a commit, or did not acknowledge. */
  readonly messages: readonly unknown[];
  /** Rows of the services' own tables. */
  readonly rows: Readonly<Record<string, readonly unknown[]>>;
}

interface LogRow {
  readonly run: string;
  readonly sequence: number;
  readonly step: string | null;
  readonly attempt: number | null;
  readonly type: string;
  readonly payload: unknown;
}

/** Throws where a log has a gap. */
export async function readEndState(store: Store, broker: Broker): Promise<EndState> {
  const [log, outbox, inbox, leases, messages, rows] = await Promise.all([
    readLogs(store),
    store.query<{ payload: string }>(
      'select distinct on (message_id) message_id, subject, payload, cause from flow.outbox order by message_id, id',
    ),
    store.query(
      'select message_id, stage, handled_at is not null as handled, failures from flow.inbox order by message_id, stage',
    ),
    store.query('select key from flow.lease where expires_at > clock_timestamp() order by key'),
    readMessages(broker),
    readTables(store),
  ]);
  const published = outbox.map((row) => ({ ...row, payload: readJson(row.payload) }));
  return { log, inbox, leases, outbox: published, messages, rows };
}

/** Entries that tell that something is about to be tried. */
const begins = ['step.started', 'change.push_started'];

/** What began again says so in the log; everything else is there once. */
async function readLogs(store: Store): Promise<readonly unknown[]> {
  const rows = await store.query<LogRow>(
    'select run, sequence, step, attempt, type, payload from flow.log order by run, sequence',
  );
  const started = new Set<string>();
  let last: LogRow | undefined;
  const told: unknown[] = [];
  for (const row of rows) {
    const wanted = last?.run === row.run ? last.sequence + 1 : 1;
    if (row.sequence !== wanted) throw new Error(`the log of ${row.run} has ${row.sequence} in the place of ${wanted}`);
    last = row;
    const { run, step, attempt, type, payload } = row;
    const occasion = `${run}/${step}/${attempt} ${type}`;
    if (begins.includes(type) && started.has(occasion)) continue;
    started.add(occasion);
    told.push({ run, step, attempt, type, payload });
  }
  return told;
}

async function readTables(store: Store): Promise<Readonly<Record<string, readonly unknown[]>>> {
  const tables = await store.query<{ name: string }>(
    `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
      where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema', 'public', 'flow', 'kept')
      order by 1`,
  );
  const found: Record<string, readonly unknown[]> = {};
  for (const { name } of tables) {
    const rows = await store.query<{ row: unknown }>(
      `select row_to_json(one) as row from ${name} as one order by one::text`,
    );
    found[name] = rows.map(({ row }) => row);
  }
  return found;
}

async function readMessages(broker: Broker): Promise<readonly unknown[]> {
  const found = new Map<string, unknown>();
  for (const { name: stream } of Object.values(streams)) {
    const { state } = await broker.jsm.streams.info(stream);
    for (let seq = state.first_seq; state.messages > 0 && seq <= state.last_seq; seq += 1) {
      const message = await broker.jsm.streams.getMessage(stream, { seq });
      if (message === null) continue;
      const id = message.header.get('Nats-Msg-Id');
      found.set(id === '' ? `${stream} ${seq}` : id, {
        stream,
        id,
        subject: message.subject,
        payload: readJson(message.string()),
      });
    }
  }
  return [...found.entries()].toSorted(([left], [right]) => (left < right ? -1 : 1)).map(([, message]) => message);
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
