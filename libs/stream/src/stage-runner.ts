import { setTimeout as wait } from 'node:timers/promises';
import type { Consumer, JsMsg } from '@nats-io/jetstream';
import { ACK_WAIT_MS, HEARTBEAT_MS } from '@flotilla/contracts/streams';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import type { Broker } from './connect-broker.ts';
import type { DeliveryGuard, DeliveryObserver } from './delivery-guard.ts';
import { provisionConsumer } from './provision-streams.ts';
import { pullMessages } from './pull-messages.ts';
import { type DeliveryPorts, runDelivery } from './run-delivery.ts';
import type { Handler, Stage } from './stage.ts';

export interface StageRunnerOptions {
  readonly broker: Broker;
  readonly service: string;
  readonly stage: Stage;
  readonly handler: Handler<never>;
  readonly guard: DeliveryGuard;
  readonly observer: DeliveryObserver;
  readonly clock: () => Date;
  /** Makes the streams where this service is the one that does. */
  readonly prepare?: () => Promise<void>;
  /** Milliseconds that only grow. Default: the process's. */
  readonly monotonicMs?: () => number;
  /** Default 15 s; also how long a lease lasts. */
  readonly ackWaitMs?: number;
  /** Default 5 s. */
  readonly heartbeatMs?: number;
}

export interface StopOptions {
  /** Handlers under way may end by themselves for so long, then they are asked to. */
  readonly finishMs: number;
  /** What has not ended so long after it was asked is given back to the broker all the same. */
  readonly abortMs: number;
}

const pullExpiresMs = 5_000;
const slotsAskedEveryMs = 500;
const retryMs = [100, 250, 500, 1_000, 2_000];

/** Takes one message per free slot from a stage's consumer, never ahead, until it is stopped. */
export class StageRunner {
  readonly #options: StageRunnerOptions;
  readonly #ports: DeliveryPorts;
  readonly #handler: Handler<unknown>;
  readonly #running = new Set<Promise<void>>();
  readonly #ending = new AbortController();
  readonly #given = new AbortController();
  #consumer: Consumer | undefined;
  /** Whether the consumer is there, as far as this process knows: the next pull makes it otherwise. */
  #seen = false;
  #pulls = new AbortController();
  /** Messages that the broker was asked for and did not give yet. */
  #asked = 0;
  #filling: NodeJS.Immediate | undefined;
  #failures = 0;
  #stopped = false;
  #tick: NodeJS.Timeout | undefined;
  #livedAtMs = 0;
  #forgetReconnect: (() => void) | undefined;

  constructor(options: StageRunnerOptions) {
    this.#options = options;
    this.#handler = options.handler as Handler<unknown>; // it gets what the stage's own contract parsed
    this.#ports = {
      guard: options.guard,
      observer: options.observer,
      heartbeatMs: options.heartbeatMs ?? HEARTBEAT_MS,
      leaseMs: options.ackWaitMs ?? ACK_WAIT_MS,
      clock: options.clock,
      monotonicMs: options.monotonicMs ?? (() => performance.now()),
    };
  }

  /** Deliveries under way. */
  get active(): number {
    return this.#running.size;
  }

  /** Whether the broker gave what was asked of it last. */
  get pulls(): boolean {
    return this.#consumer !== undefined && this.#failures === 0;
  }

  /**
   * How long there was room for a message, a broker to ask and nobody who asked. A pull ends after seconds, so a stage that lives asks
   * again; 0 where it may be silent.
   */
  silentMs(): number {
    const mayBeSilent = this.#consumer === undefined || this.#stopped || !this.#options.broker.connected;
    if (mayBeSilent || this.#slots() <= this.#running.size) return 0;
    return this.#ports.monotonicMs() - this.#livedAtMs;
  }

  /** Creates the consumer and begins to pull. Throws STREAMS_MISSING or BROKER_UNAVAILABLE. */
  async start(): Promise<void> {
    await this.#provision();
    this.#forgetReconnect = this.#options.broker.onReconnect(() => this.#pullAnew());
    if (typeof this.#options.stage.concurrency === 'function') {
      this.#tick = setInterval(() => this.#fill(), slotsAskedEveryMs);
    }
    this.#fill();
  }

  /** Pulls no more and settles everything under way: what did not end is handed over at once, at no cost. Safe to repeat. */
  async stop({ finishMs, abortMs }: StopOptions): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#tick);
    this.#forgetReconnect?.();
    this.#pulls.abort();
    await this.#settledWithin(finishMs);
    this.#ending.abort(new FlotillaError(errors.shuttingDown));
    await this.#settledWithin(abortMs);
    this.#given.abort(new FlotillaError(errors.shuttingDown));
    await Promise.all(this.#running);
  }

  async #provision(): Promise<void> {
    const { broker, service, stage, ackWaitMs, prepare } = this.#options;
    await prepare?.();
    this.#consumer = await provisionConsumer(broker, service, stage.contract, ackWaitMs);
    this.#seen = true;
  }

  #slots(): number {
    const { concurrency } = this.#options.stage;
    return typeof concurrency === 'function' ? concurrency() : concurrency;
  }

  #fill(): void {
    const consumer = this.#consumer;
    if (consumer === undefined) return;
    const room = this.#slots() - this.#running.size;
    if (room <= 0) this.#live();
    const free = room - this.#asked;
    if (!this.#stopped && free > 0) void this.#pull(consumer, free);
  }

  #live(): void {
    this.#livedAtMs = this.#ports.monotonicMs();
  }

  /** Slots that become free in one turn are asked for together. */
  #fillSoon(): void {
    this.#filling ??= setImmediate(() => {
      this.#filling = undefined;
      this.#fill();
    });
  }

  /** A server that was away has forgotten what was asked of it, and one that lost its disk the consumer: nothing would answer a pull. */
  #pullAnew(): void {
    this.#live();
    this.#seen = false;
    this.#pulls.abort();
    this.#pulls = new AbortController();
  }

  async #pull(consumer: Consumer, count: number): Promise<void> {
    this.#asked += count;
    this.#live();
    let open = count;
    try {
      if (!this.#seen) await this.#provision();
      const pulled = await pullMessages(this.#consumer ?? consumer, {
        count,
        expiresMs: pullExpiresMs,
        signal: this.#pulls.signal,
        take: (message) => {
          open -= 1;
          this.#asked -= 1;
          this.#failures = 0;
          this.#take(message);
        },
      });
      if (pulled.kind === 'unavailable') await this.#recover(pulled.reason);
      else this.#failures = 0;
    } catch (error) {
      await this.#recover(error);
    } finally {
      this.#asked -= open;
      this.#fillSoon();
    }
  }

  #take(message: JsMsg): void {
    if (this.#stopped) return message.nak();
    const shutdown = { signal: this.#ending.signal, given: this.#given.signal };
    const delivery = runDelivery(this.#ports, this.#options.stage, this.#handler, message, shutdown).finally(() => {
      this.#running.delete(delivery);
      this.#live();
      this.#fillSoon();
    });
    this.#running.add(delivery);
  }

  /** The consumer may be gone with the broker's data: the next pull makes it again, after a wait that grows. */
  async #recover(reason: unknown): Promise<void> {
    if (this.#stopped) return;
    this.#live();
    if (this.#failures === 0) this.#options.observer.troubled('pull_failed', reason, this.#options.stage.contract.name);
    const delayMs = retryMs[Math.min(this.#failures, retryMs.length - 1)];
    await wait(delayMs, undefined, { signal: this.#pulls.signal }).catch(() => undefined);
    this.#failures += 1;
    this.#seen = false;
  }

  async #settledWithin(limitMs: number): Promise<void> {
    if (this.#running.size === 0) return;
    const limit = new AbortController();
    const limited = wait(limitMs, undefined, { signal: limit.signal }).catch(() => undefined);
    await Promise.race([Promise.all(this.#running), limited]);
    limit.abort();
  }
}
