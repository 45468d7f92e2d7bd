import type { MessageContract } from '@flotilla/contracts/define-message';
import type { RunId, TraceContext } from '@flotilla/contracts/ids';
import type { NewLogEntry } from '@flotilla/contracts/log-entry';
import { LogAdvanced } from '@flotilla/contracts/messages/log-advanced';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import type { EntityManager } from '@mikro-orm/postgresql';
import { CompiledQuery } from 'kysely';
import type { z } from 'zod';
import { appendLog, keepEntries, requireCurrent, requireLease, scopeOf } from './append-log.ts';
import { appendLogs } from './append-logs.ts';
import type { Lease } from './lease.ts';
import { describeAdded } from './log-advance.ts';
import type { OutboxRow } from './outbox.ts';
import { composeMessage, requireSize, traceHeaders } from './outgoing.ts';
import type { Committed, StorePorts } from './store.ts';
import type { AppendOptions, PublishOptions, RawMessage, Transaction } from './transaction.ts';

const newestAnnounced = 100;

type WaitingMessage = Required<Omit<RawMessage, 'cause'>> & Pick<RawMessage, 'cause'>;
interface Advance {
  readonly told: LogAdvanced;
  readonly durable: boolean;
  readonly trace: TraceContext | undefined;
}

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
    this.#noteAdvance({ runId, entries, trace }, last, at);
    return last;
  }

  async appendLogs(logs: Parameters<Transaction['appendLogs']>[0]): Promise<void> {
    if (logs.length === 0) return;
    const at = this.#ports.clock();
    const kept = await Promise.all(
      logs.map(async ({ runId, entries, trace }) => {
        requireLease({ runId, entries, lease: undefined });
        return { runId, lease: undefined, trace, at, entries: await keepEntries(this.#ports.spills, runId, entries) };
      }),
    );
    const last = await appendLogs(this.query, kept);
    for (const [place, log] of logs.entries()) {
      const sequence = last[place];
      if (sequence === undefined) throw new Error(`the cursor of ${log.runId} gave no sequence`);
      this.#noteAdvance(log, sequence, at);
    }
  }

  requireLease(lease: Lease): Promise<void> {
    return requireCurrent(this.query, lease);
  }

  async publish<Schema extends z.ZodObject>(
    contract: MessageContract<Schema>,
    payload: z.input<Schema>,
    { headers = {}, trace, cause }: PublishOptions = {},
  ): Promise<void> {
    const message = composeMessage(contract, payload, trace ?? this.#ports.traceContext());
    await this.publishRaw({
      ...message,
      headers: { ...message.headers, ...headers },
      ...(cause === undefined ? {} : { cause }),
    });
  }

  async publishRaw(message: RawMessage): Promise<void> {
    this.#messages.push({
      ...requireSize(message),
      headers: message.headers ?? traceHeaders(this.#ports.traceContext()),
    });
  }

  async completeInbox(messageId: string, stage: string): Promise<void> {
    await this.completeInboxes([{ messageId, stage }]);
    this.#cause = messageId;
  }

  async completeInboxes(deliveries: Parameters<Transaction['completeInboxes']>[0]): Promise<void> {
    if (deliveries.length === 0) return;
    const rows = await this.query<{ messageId: string }>(
      `insert into flow.inbox as inbox (message_id, stage, deliveries, handled_at)
       select message_id, stage, 1, clock_timestamp() from unnest($1::text[], $2::text[]) as given (message_id, stage)
        order by message_id, stage
       on conflict (message_id, stage) do update set handled_at = clock_timestamp(), open = greatest(inbox.open - 1, 0)
        where inbox.handled_at is null
       returning message_id as "messageId"`,
      [deliveries.map(({ messageId }) => messageId), deliveries.map(({ stage }) => stage)],
    );
    if (rows.length === deliveries.length) return;
    const completed = new Set(rows.map(({ messageId }) => messageId));
    const messageId = deliveries.find((delivery) => !completed.has(delivery.messageId))?.messageId;
    throw new FlotillaError(errors.deliveryAlreadyHandled, { messageId });
  }

  /** Writes what was held back; the last thing before the commit. */
  async flush(): Promise<Committed> {
    const advances = [...this.#advances.values()];
    for (const { told, durable, trace } of advances) {
      if (durable) await this.publish(LogAdvanced, told, trace === undefined ? {} : { trace });
    }
    return {
      outbox: await this.#writeOutbox(),
      advanced: advances.filter(({ durable }) => !durable).map(({ told }) => told),
    };
  }

  async #writeOutbox(): Promise<readonly OutboxRow[]> {
    if (this.#messages.length === 0) return [];
    const messages = this.#messages;
    const rows = await this.query<{ id: string }>(
      `insert into flow.outbox (message_id, subject, payload, headers, cause)
       select message_id, subject, payload, headers::json, cause
         from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[])
              with ordinality as given (message_id, subject, payload, headers, cause, place)
        order by place
       returning id`,
      [
        messages.map(({ messageId }) => messageId),
        messages.map(({ subject }) => subject),
        messages.map(({ payload }) => payload),
        messages.map(({ headers }) => JSON.stringify(headers)),
        messages.map(({ cause }) => cause ?? this.#cause),
      ],
    );
    return messages.map((message, place) => ({ ...message, id: rows[place]?.id ?? '0' }));
  }

  /** What the router writes must reach readers even if this process dies now; journals may wait for the next entry. */
  #noteAdvance(
    { runId, entries, trace }: Parameters<Transaction['appendLogs']>[0][number],
    last: number,
    at: Date,
  ): void {
    const known = this.#advances.get(runId);
    const added = [...(known?.told.entries ?? []), ...describeAdded(entries, last, at)];
    this.#advances.set(runId, {
      told: { runId, sequence: last, entries: added.slice(-newestAnnounced) },
      durable: (known?.durable ?? false) || entries.some(({ type }) => scopeOf(type) === 'run'),
      trace,
    });
  }
}
