import { setTimeout as delay } from 'node:timers/promises';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { ExecutionError, Redlock, ResourceLockedError, type Lock } from '@sesamecare-oss/redlock';
import { Redis } from 'ioredis';
import type { MergeLease } from './merge-lease.ts';

export interface RedisMergeLeaseOptions {
  readonly url: string;
  /** How long the lease outlives its holder; it is renewed at a third of it. Default: 15 000 ms. */
  readonly ttlMs?: number;
  /** How long one answer of Redis may take. Default: 2 000 ms. */
  readonly answerWithinMs?: number;
}

/**
 * A lease in Redis by the Redlock algorithm on one server. Nothing here retries: contention and an absent Redis are told
 * to the caller, who waits outside. The renewal is our own loop because the library's spins without a pause while Redis
 * is away.
 */
export class RedisMergeLease implements MergeLease {
  readonly #redis: Redis;
  readonly #redlock: Redlock;
  readonly #ttlMs: number;

  constructor({ url, ttlMs = 15_000, answerWithinMs = 2_000 }: RedisMergeLeaseOptions) {
    this.#ttlMs = ttlMs;
    this.#redis = new Redis(url, {
      lazyConnect: true,
      maxRetriesPerRequest: 1,
      connectTimeout: answerWithinMs,
      commandTimeout: answerWithinMs,
      retryStrategy: (attempt) => Math.min(attempt * 100, 1_000),
    });
    // Without a listener ioredis prints every failed reconnection; the failed command tells the caller already.
    this.#redis.on('error', () => undefined);
    this.#redlock = new Redlock([this.#redis], { retryCount: 0 });
  }

  async hold<Result>(lane: string, work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    const askedAt = performance.now();
    const lock = await this.#acquire(lane);
    const lost = new AbortController();
    const done = new AbortController();
    const lose = (cause: unknown) =>
      lost.abort(new FlotillaError(errors.mergeLeaseLost, { lane, reason: wordsOf(cause) }, { cause }));
    const renewal = this.#keep(lock, askedAt, lose, done.signal);
    try {
      return await work(lost.signal);
    } finally {
      done.abort();
      const current = await renewal;
      // A lease that cannot be given back ends by itself.
      await current.release().catch(() => undefined);
    }
  }

  /** Whether Redis answers now. */
  async answers(): Promise<boolean> {
    return (await this.#redis.ping()) === 'PONG';
  }

  close(): void {
    this.#redis.disconnect();
  }

  /** Nest calls it when the service ends. */
  onApplicationShutdown(): void {
    this.close();
  }

  async #acquire(lane: string): Promise<Lock> {
    try {
      return await this.#redlock.acquire([keyOf(lane)], this.#ttlMs);
    } catch (error) {
      const cause = await firstCause(error);
      if (cause instanceof ResourceLockedError) throw new FlotillaError(errors.mergeLeaseHeld, { lane }, { cause });
      throw new FlotillaError(errors.mergeLeaseUnavailable, { reason: wordsOf(cause) }, { cause });
    }
  }

  /** Renews until `done`; loses the lease at once when another has it, and a tenth of its life before it ends unrenewed. */
  async #keep(lock: Lock, askedAt: number, lose: (cause: unknown) => void, done: AbortSignal): Promise<Lock> {
    let current = lock;
    let cause: unknown = new Error('it ended before it could be renewed');
    let expiry = this.#expireAt(askedAt, () => lose(cause));
    for (;;) {
      await delay(Math.floor(this.#ttlMs / 3), undefined, { signal: done }).catch(() => undefined);
      if (done.aborted) break;
      const renewedAt = performance.now();
      try {
        current = await current.extend(this.#ttlMs);
        clearTimeout(expiry);
        expiry = this.#expireAt(renewedAt, () => lose(cause));
      } catch (error) {
        cause = await firstCause(error);
        if (cause instanceof ResourceLockedError) lose(cause);
      }
    }
    clearTimeout(expiry);
    return current;
  }

  #expireAt(renewedAt: number, expire: () => void): NodeJS.Timeout {
    return setTimeout(expire, renewedAt + this.#ttlMs * 0.9 - performance.now());
  }
}

function keyOf(lane: string): string {
  return `flotilla:landing:{${lane}}`;
}

/** What a server answered; the library's own error says only that there was no quorum. */
async function firstCause(error: unknown): Promise<unknown> {
  if (!(error instanceof ExecutionError)) return error;
  const [attempt] = error.attempts;
  const [against] = attempt === undefined ? [] : (await attempt).votesAgainst.values();
  return against ?? error;
}

function wordsOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
