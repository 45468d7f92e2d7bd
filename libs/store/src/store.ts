import type { LogEntry } from '@flotilla/contracts/log-entry';
import type { RunId, StepId, TraceContext } from '@flotilla/contracts/ids';
import type { LogAdvanced } from '@flotilla/contracts/messages/log-advanced';
import type { MikroORM } from '@mikro-orm/postgresql';
import type { GroupedWrites } from './grouped.ts';
import type { OutboxRow } from './outbox.ts';
import type { Spills } from './spills.ts';
import type { Transaction } from './transaction.ts';

export interface ReadLogOptions {
  /** Entries after this sequence; default 0. */
  readonly after?: number;
  /** Default 1000. */
  readonly limit?: number;
  readonly types?: readonly string[];
  readonly stepId?: StepId;
  readonly attempt?: number;
}

/** What a transaction made known by committing. */
export interface Committed {
  /** Messages for the broker; the sweeper publishes them where the process dies first. */
  readonly outbox: readonly OutboxRow[];
  /** Wake-ups for readers of the log that are not in the outbox: losing one costs a reader time, no fact. */
  readonly advanced: readonly LogAdvanced[];
}

export interface Store {
  /** One transaction; commits when `work` returns. Retries nothing. A lost Postgres is STORE_UNAVAILABLE, a deadlock STORE_CONTENDED. */
  transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>;
  /** One statement with $1 parameters in a transaction of its own. */
  query<Row>(text: string, parameters?: readonly unknown[]): Promise<readonly Row[]>;
  /** Writes that many do at once. */
  readonly grouped: GroupedWrites;
  /** A run's entries in their order, spilled payloads put back. */
  readLog(runId: RunId, options?: ReadLogOptions): Promise<readonly LogEntry[]>;
  /** The trace that is active now. */
  traceContext(): TraceContext | undefined;
  /** Calls `listener` after each commit that has something to tell. Returns how to stop. */
  onCommitted(listener: (committed: Committed) => void): () => void;
  close(): Promise<void>;
  readonly orm: MikroORM;
}

/** What the store takes as values. */
export interface StorePorts {
  readonly spills: Spills;
  readonly clock: () => Date;
  /** The trace that what is written now belongs to. */
  readonly traceContext: () => TraceContext | undefined;
}
