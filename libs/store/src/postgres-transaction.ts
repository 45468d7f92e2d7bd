import type { MessageContract } from '@flotilla/contracts/define-message';
import type { RunId, TraceContext } from '@flotilla/contracts/ids';
import type { NewLogEntry } from '@flotilla/contracts/log-entry';
import { LogAdvanced } from '@flotilla/contracts/messages/log-advanced';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import type { EntityManager } from '@mikro-orm/postgresql';
import { CompiledQuery } from 'kysely';
import type { z } from 'zod';
import { appendLog, requireCurrent, scopeOf } from './append-log.ts';
import type { Lease } from './lease.ts';
import type { OutboxRow } from './outbox.ts';
import type { Committed, StorePorts } from './store.ts';
import type { AppendOptions, PublishOptions, RawMessage, Transaction } from './transaction.ts';

/** The broker takes 1 MiB with headers. */
const MESSAGE_LIMIT_BYTES = 900 * 1024;
const newestAnnounced = 100;

type WaitingMessage = Required<RawMessage>;
type Advance = { -readonly [Key in keyof LogAdvanced]: LogAdvanced[Key] } & { durable: boolean };

/** The transaction of one EntityManager. Messages are held back and written in one statement when the work is done. */
export class PostgresTransaction implements Transaction {
  readonly em: EntityManager;
  readonly #ports: StorePorts;
  readonly #messages: WaitingMessage[] = [];
  readonly #advances = new Map<RunId, Advance>();
  #cause: string | null = null;

  constructor(em: EntityManager, ports: StorePorts) {
    this.em = em;
    this.#ports = ports;
  }

  query = async <Row>(text: string, parameters: readonly unknown[] = []): Promise<readonly Row[]> => {
    const { rows } = await this.em.getKysely().executeQuery(CompiledQuery.raw(text, [...parameters]));
    return rows as Row[]; // the statement decides the shape of its rows
  };

  async appendLog(runId: RunId, entries: readonly NewLogEntry[], options: AppendOptions = {}): Promise<number> {
    for (const earlier of this.#advances.keys())
      if (earlier > runId) throw new RangeError(`the log of ${runId} is locked after that of ${earlier}`);
    const at = this.#ports.clock();
    const trace = options.trace ?? this.#ports.traceContext();
    const last = await appendLog(this.query, this.#ports.spills, { runId, entries, lease: options.lease, trace, at });
    this.#noteAdvance(runId, entries, last, at);
    return last;
  }

  requireLease(lease: Lease): Promise<void> {
    return requireCurrent(this.query, lease);
  }

  async publish<Schema extends z.ZodObject>(
    contract: MessageContract<Schema>,
    payload: z.input<Schema>,
    { headers = {}, trace }: PublishOptions = {},
  ): Promise<void> {
    const message = contract.payload.parse(payload);
    await this.publishRaw({
      subject: contract.subjectOf?.(message) ?? contract.subject,
      messageId: contract.messageId(message),
      payload: JSON.stringify(message),
      headers: { ...traceHeaders(trace ?? this.#ports.traceContext()), ...headers },
    });
  }

  async publishRaw(message: RawMessage): Promise<void> {
    const bytes = Buffer.byteLength(message.payload);
    if (bytes > MESSAGE_LIMIT_BYTES) {
      throw new FlotillaError(errors.messageTooLarge, { subject: message.subject, bytes, limit: MESSAGE_LIMIT_BYTES });
    }
    this.#messages.push({ ...message, headers: message.headers ?? traceHeaders(this.#ports.traceContext()) });
  }

  async completeInbox(messageId: string, stage: string): Promise<void> {
    const rows = await this.query(
      `insert into flow.inbox as inbox (message_id, stage, deliveries, handled_at) values ($1, $2, 1, clock_timestamp())
       on conflict (message_id, stage) do update set handled_at = clock_timestamp(), open = greatest(inbox.open - 1, 0)
        where inbox.handled_at is null
       returning 1`,
      [messageId, stage],
    );
    if (rows.length === 0) throw new FlotillaError(errors.deliveryAlreadyHandled, { messageId });
    this.#cause = messageId;
  }

  /** Writes what was held back; the last thing before the commit. */
  async flush(): Promise<Committed> {
    const advances = [...this.#advances.values()];
    for (const { durable, ...advance } of advances) if (durable) await this.publish(LogAdvanced, advance);
    return {
      outbox: await this.#writeOutbox(),
      advanced: advances.filter(({ durable }) => !durable).map(({ durable: _, ...advance }) => advance),
    };
  }

  async #writeOutbox(): Promise<readonly OutboxRow[]> {
    if (this.#messages.length === 0) return [];
    const messages = this.#messages;
    const rows = await this.query<{ id: string }>(
      `insert into flow.outbox (message_id, subject, payload, headers, cause)
       select message_id, subject, payload, headers::json, $5
         from unnest($1::text[], $2::text[], $3::text[], $4::text[])
              with ordinality as given (message_id, subject, payload, headers, place)
        order by place
       returning id`,
      [
        messages.map(({ messageId }) => messageId),
        messages.map(({ subject }) => subject),
        messages.map(({ payload }) => payload),
        messages.map(({ headers }) => JSON.stringify(headers)),
        this.#cause,
      ],
    );
    return messages.map((message, place) => ({ ...message, id: rows[place]?.id ?? '0' }));
  }

  /** What the router writes must reach readers even if this process dies now; journals may wait for the next entry. */
  #noteAdvance(runId: RunId, entries: readonly NewLogEntry[], last: number, at: Date): void {
    const known = this.#advances.get(runId);
    const added = entries.map(({ type, stepId }, place) => ({
      sequence: last - entries.length + place + 1,
      type,
      at: at.toISOString(),
      ...(stepId === undefined ? {} : { stepId }),
    }));
    this.#advances.set(runId, {
      runId,
      sequence: last,
      entries: [...(known?.entries ?? []), ...added].slice(-newestAnnounced),
      durable: (known?.durable ?? false) || entries.some(({ type }) => scopeOf(type) === 'run'),
    });
  }
}

function traceHeaders(trace: TraceContext | undefined): Readonly<Record<string, string>> {
  if (trace === undefined) return {};
  return {
    traceparent: trace.traceparent,
    ...(trace.tracestate === undefined ? {} : { tracestate: trace.tracestate }),
  };
}
