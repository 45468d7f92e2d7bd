import type { Spent } from '@flotilla/contracts/allowance';
import type { LogEntry, NewLogEntry } from '@flotilla/contracts/log-entry';
import type { Outcome } from '@flotilla/contracts/outcome';
import type { StepRequest } from './step-request.ts';

/** How a step ended, what it spent, and entries that are committed together with the answer. */
export interface StepAnswer {
  readonly outcome: Outcome;
  readonly spent: Spent;
  readonly entries?: readonly NewLogEntry[];
}

export interface StepContext {
  /** Aborted when the lease is lost, the run is cancelled, the deadline passes or the process stops; its reason is the error. */
  readonly signal: AbortSignal;
  /** Names this process. */
  readonly instance: string;
  /** Above 1: an earlier delivery did not end here. */
  readonly delivery: number;
  /** Durable once it resolves; refused with LEASE_LOST once the lease is lost. Step and attempt are filled in. */
  log(...entries: readonly NewLogEntry[]): Promise<void>;
  /** Entries of this step and attempt so far, also those of a process that died. */
  journal(): Promise<readonly LogEntry[]>;
  /** Entries of earlier attempts of this step. */
  previousJournals(): Promise<readonly LogEntry[]>;
  /** For whoever watches just now; never durable. */
  live(text: string): void;
  /** Whether somebody asked the run to stop, as the log says. */
  cancelled(): Promise<boolean>;
  span<T>(
    name: string,
    attributes: Readonly<Record<string, string | number | boolean>>,
    work: () => Promise<T>,
  ): Promise<T>;
}

/**
 * What one step does. The host takes the lease, logs the start, commits the answer and settles the message; a thrown
 * FlotillaError is settled by its remedy. Must go on from `journal()` where an earlier delivery began.
 */
export interface StepWork<Request extends StepRequest> {
  work(request: Request, context: StepContext): Promise<StepAnswer>;
  /**
   * For work whose effect lies outside of our tables: what an earlier delivery achieved, or undefined. Asked before a step is
   * answered as cancelled, late or failed, so that such an answer is never given for what has happened. Must have no effect. Throws
   * LANDING_UNKNOWN where that cannot be told.
   */
  findDone?(request: Request, context: StepContext): Promise<StepAnswer | undefined>;
}
