import { AttemptFailed } from '@flotilla/contracts/events/step-events';
import type { NewLogEntry } from '@flotilla/contracts/log-entry';
import { ACK_WAIT_MS } from '@flotilla/contracts/streams';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { recordFailure, recordPutOff } from '@flotilla/store/inbox';
import { releaseLease, renewLease } from '@flotilla/store/lease';
import { republishAnswers } from '@flotilla/store/outbox';
import type { Store } from '@flotilla/store/store';
import { classify, DEATH_LIMIT, type Settlement } from '@flotilla/stream/decide-settlement';
import type { Arrival, Begun, Burial, Claim, DeliveryGuard } from '@flotilla/stream/delivery-guard';
import { readStepRequest } from './step-request.ts';

export interface StoreGuardOptions {
  readonly store: Store;
  /** Names this process; never used again after a restart. */
  readonly instance: string;
  readonly bury: (burial: Burial) => Promise<void>;
  /** Default 15 s. */
  readonly leaseMs?: number;
}

const buryRetryMs = 3_000;

/** Keeps leases, deliveries and failures in Postgres, where they outlive processes and brokers. */
export class StoreGuard implements DeliveryGuard {
  readonly #options: StoreGuardOptions;
  readonly #leaseMs: number;
  /** Settlements that a lost Postgres did not take: told late, they are not taken for deaths of this process. */
  readonly #owed: { readonly claim: Claim; readonly settlement: Settlement }[] = [];
  #paying: Promise<void> | undefined;

  constructor(options: StoreGuardOptions) {
    this.#options = options;
    this.#leaseMs = options.leaseMs ?? ACK_WAIT_MS;
  }

  async begin(arrival: Arrival): Promise<Begun> {
    const { store, instance } = this.#options;
    const { messageId, stage, leaseKey } = arrival;
    await (this.#paying ??= this.#payOwed().finally(() => (this.#paying = undefined)));
    const wanted = { key: leaseKey ?? '', holder: instance, ttlMs: this.#leaseMs };
    const begun = await store.grouped.beginDelivery({
      messageId,
      stage,
      ...(leaseKey === undefined ? {} : { lease: wanted }),
    });
    if (begun.kind === 'held') throw new FlotillaError(errors.leaseHeld, { key: wanted.key });
    const { lease } = begun;
    const { handled, failures, open } = begun.inbox;
    if (handled) {
      if (lease !== undefined) await releaseLease(store, lease);
      // Only steps: a router that gave its requests again on each answer would go round in circles with its workers.
      if (leaseKey !== undefined) await republishAnswers(store, messageId);
      return { kind: 'handled' };
    }
    const claim: Claim = { arrival, failures, lease };
    const deaths = open - 1;
    return deaths >= DEATH_LIMIT ? { kind: 'exhausted', claim, deaths } : { kind: 'proceed', claim };
  }

  async renew({ lease }: Claim): Promise<boolean> {
    const { store } = this.#options;
    if (lease !== undefined) return renewLease(store, lease, this.#leaseMs);
    await store.query('select 1');
    return true;
  }

  async settle(claim: Claim, settlement: Settlement): Promise<void> {
    try {
      await this.#settle(claim, settlement);
    } catch (error) {
      this.#owed.push({ claim, settlement });
      throw error;
    }
  }

  async bury(burial: Burial): Promise<void> {
    try {
      await this.#options.bury(burial);
    } catch (failure) {
      // It comes again, and finds its lease free and no death counted.
      const settlement = { kind: 'later', delayMs: buryRetryMs, counted: false, error: classify(failure) } as const;
      if (burial.claim !== undefined) await this.settle(burial.claim, settlement);
      throw failure;
    }
    const lease = burial.claim?.lease;
    if (lease !== undefined) await releaseLease(this.#options.store, lease);
  }

  /** Deliveries that begin meanwhile wait for it, so that none of them finds its own settlement still owed. */
  async #payOwed(): Promise<void> {
    for (let owed = this.#owed[0]; owed !== undefined; owed = this.#owed[0]) {
      await this.#settle(owed.claim, owed.settlement);
      this.#owed.shift();
    }
  }

  async #settle(claim: Claim, settlement: Settlement): Promise<void> {
    const entry = settlement.kind === 'later' ? await this.#describeFailure(claim, settlement) : undefined;
    try {
      await this.#writeSettlement(claim, settlement, entry);
    } catch (error) {
      // Whoever holds the lease now writes the step's log; that this delivery ended is noted all the same.
      const lost = error instanceof FlotillaError && error.is(errors.leaseLost);
      if (!lost || entry === undefined) throw error;
      await this.#writeSettlement(claim, settlement, undefined);
    }
  }

  /** One transaction, so that a failure is told and counted, and the lease free, before the message comes again. */
  #writeSettlement({ arrival, lease }: Claim, settlement: Settlement, entry: NewLogEntry | undefined): Promise<void> {
    const { messageId, stage } = arrival;
    if (settlement.kind === 'acknowledged')
      return this.#options.store.grouped.settleDelivery({ messageId, stage, lease });
    const counted = settlement.kind === 'later' && settlement.counted;
    return this.#options.store.transaction(async (transaction) => {
      await (counted ? recordFailure : recordPutOff)(transaction, messageId, stage);
      if (lease === undefined) return;
      const request = readStepRequest(arrival.message);
      if (entry !== undefined && request !== undefined) await transaction.appendLog(request.runId, [entry], { lease });
      if (settlement.kind !== 'abandoned') await releaseLease(transaction, lease);
    });
  }

  /** Why the step does not go on, for its run's log; undefined where that is not worth telling. What is waited for is told once, not at each look. */
  async #describeFailure(
    { arrival, lease }: Claim,
    { error, delayMs, counted }: Extract<Settlement, { kind: 'later' }>,
  ): Promise<NewLogEntry | undefined> {
    const request = readStepRequest(arrival.message);
    const silent = error.is(errors.shuttingDown) || error.is(errors.leaseLost) || error.is(errors.storeUnavailable);
    if (request === undefined || lease === undefined || silent) return undefined;
    const { runId, stepId, attempt } = request;
    if (!counted) {
      const told = await this.#options.store.readLog(runId, { types: [AttemptFailed.type], stepId, attempt });
      const last = AttemptFailed.payload.safeParse(told.at(-1)?.payload);
      if (last.success && last.data.code === error.code) return undefined;
    }
    const payload = { code: error.code, message: error.message, retryInMs: delayMs, waiting: !counted };
    return { type: AttemptFailed.type, stepId, attempt, payload };
  }
}
