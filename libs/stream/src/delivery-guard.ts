import type { MessageContract } from '@flotilla/contracts/define-message';
import type { DeadLetterRecord } from '@flotilla/contracts/dead-letter';
import type { FlotillaError } from '@flotilla/errors/flotilla-error';
import type { Settlement } from './decide-settlement.ts';
import type { DeliveryLease } from './stage.ts';

/** A message that arrived and was read. */
export interface Arrival {
  readonly messageId: string;
  readonly stage: string;
  readonly delivery: number;
  readonly contract: MessageContract;
  /** Parsed by the contract. */
  readonly message: unknown;
  readonly leaseKey: string | undefined;
}

/** The right to handle an arrival. */
export interface Claim {
  readonly arrival: Arrival;
  readonly failures: number;
  readonly lease: DeliveryLease | undefined;
}

export type Begun =
  | { readonly kind: 'proceed'; readonly claim: Claim }
  | { readonly kind: 'handled' }
  /** Its deliveries died `deaths` times, too often to try again. */
  | { readonly kind: 'exhausted'; readonly claim: Claim; readonly deaths: number };

export interface Burial {
  readonly letter: DeadLetterRecord;
  readonly contract: MessageContract;
  readonly error: FlotillaError;
  /** Absent where the message could not be read. */
  readonly claim: Claim | undefined;
}

/** What the runner needs to know and to keep; `libs/host` binds it to the store. Throws errors that are waited out. */
export interface DeliveryGuard {
  /** Takes the lease and notes that a delivery begins. Throws LEASE_HELD while somebody else works on it. */
  begin(arrival: Arrival): Promise<Begun>;
  /** Renews the lease; false when it is lost. */
  renew(claim: Claim): Promise<boolean>;
  /** Notes how the delivery ended and gives the lease back. */
  settle(claim: Claim, settlement: Settlement): Promise<void>;
  /** Commits the dead letter and tells whoever waits for an answer. Gives the lease back. */
  bury(burial: Burial): Promise<void>;
}

export interface DeliveryReport {
  readonly stage: string;
  readonly messageId: string;
  readonly delivery: number;
  readonly settlement: Settlement;
  readonly durationMs: number;
}

/** Told what happens, for logs and telemetry. */
export interface DeliveryObserver {
  /** Runs the work of one delivery, for example inside a span. */
  around<T>(
    delivery: {
      readonly stage: string;
      readonly messageId: string;
      readonly subject: string;
      readonly delivery: number;
      /** How long the message waited in the broker; of its first delivery only. */
      readonly waitedMs: number | undefined;
      readonly headers: ReadonlyMap<string, string>;
      readonly message: unknown;
    },
    work: () => Promise<T>,
  ): Promise<T>;
  settled(report: DeliveryReport): void;
  /** Something outside a delivery did not go well and is tried again. */
  troubled(event: string, error: unknown, stage: string): void;
}
