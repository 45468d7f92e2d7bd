import { AttemptFailed } from '@flotilla/contracts/events/step-events';
import { ACK_WAIT_MS } from '@flotilla/contracts/streams';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { recordDelivery, recordFailure, recordPutOff } from '@flotilla/store/inbox';
import { acquireLease, releaseLease, renewLease } from '@flotilla/store/lease';
import { republishAnswers } from '@flotilla/store/outbox';
import type { Store } from '@flotilla/store/store';
import { DEATH_LIMIT, type Settlement } from '@flotilla/stream/decide-settlement';
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

/** Keeps leases, deliveries and failures in Postgres, where they outlive processes and brokers. */
export class StoreGuard implements DeliveryGuard {
  readonly #options: StoreGuardOptions;
  readonly #leaseMs: number;

  constructor(options: StoreGuardOptions) {
    this.#options = options;
    this.#leaseMs = options.leaseMs ?? ACK_WAIT_MS;
  }

  async begin(arrival: Arrival): Promise<Begun> {
    const { store } = this.#options;
    const { messageId, stage, leaseKey } = arrival;
    const lease = leaseKey === undefined ? undefined : await this.#takeLease(leaseKey);
    const { handled, failures, open } = await recordDelivery(store, messageId, stage);
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
    const { store } = this.#options;
    const { messageId, stage } = claim.arrival;
    if (settlement.kind === 'later') await this.#noteFailure(claim, settlement);
    if (settlement.kind === 'later' && settlement.counted) await recordFailure(store, messageId, stage);
    else await recordPutOff(store, messageId, stage);
    if (claim.lease !== undefined && settlement.kind !== 'abandoned') await releaseLease(store, claim.lease);
  }

  async bury(burial: Burial): Promise<void> {
    await this.#options.bury(burial);
    const lease = burial.claim?.lease;
    if (lease !== undefined) await releaseLease(this.#options.store, lease);
  }

  async #takeLease(key: string) {
    const { store, instance } = this.#options;
    const lease = await acquireLease(store, key, instance, this.#leaseMs);
    if (lease === undefined) throw new FlotillaError(errors.leaseHeld, { key });
    return lease;
  }

  /** Tells the run why its step does not go on. What is waited for is told once, not at each look. */
  async #noteFailure(
    { arrival, lease }: Claim,
    { error, delayMs, counted }: Extract<Settlement, { kind: 'later' }>,
  ): Promise<void> {
    const request = readStepRequest(arrival.message);
    const silent = error.is(errors.shuttingDown) || error.is(errors.leaseLost) || error.is(errors.storeUnavailable);
    if (request === undefined || lease === undefined || silent) return;
    const { runId, stepId, attempt } = request;
    const { store } = this.#options;
    if (!counted) {
      const told = await store.readLog(runId, { types: [AttemptFailed.type], stepId, attempt });
      const last = AttemptFailed.payload.safeParse(told.at(-1)?.payload);
      if (last.success && last.data.code === error.code) return;
    }
    await store.transaction((transaction) =>
      transaction.appendLog(
        runId,
        [
          {
            type: AttemptFailed.type,
            stepId,
            attempt,
            payload: { code: error.code, message: error.message, retryInMs: delayMs, waiting: !counted },
          },
        ],
        { lease },
      ),
    );
  }
}
