export interface KeepAliveOptions {
  /** Renews the lease; false when it is lost; throws while the store cannot say. */
  readonly renew: () => Promise<boolean>;
  /** Tells the broker that the work goes on. */
  readonly tellBroker: () => void;
  readonly lost: () => void;
  readonly everyMs: number;
  /** A lease that was not renewed for so long may belong to somebody else. */
  readonly leaseMs: number;
  readonly monotonicMs: () => number;
}

/**
 * Gives signs of life until stopped: the lease first and only then the broker, so the broker never keeps a message with a
 * worker that the store has given up. Returns how to stop.
 */
export function keepAlive({ renew, tellBroker, lost, everyMs, leaseMs, monotonicMs }: KeepAliveOptions): () => void {
  let renewedAt = monotonicMs();
  let stopped = false;
  let renewing = false;
  const stop = (): void => {
    stopped = true;
    clearInterval(timer);
  };
  const beat = async (): Promise<void> => {
    const askedAt = monotonicMs();
    const held = await renew().catch(() => undefined);
    if (stopped) return;
    if (held === true) {
      renewedAt = askedAt;
      tellBroker();
    } else if (held === false || monotonicMs() - renewedAt >= leaseMs) {
      stop();
      lost();
    }
  };
  const timer = setInterval(() => {
    if (!renewing) {
      renewing = true;
      void beat().finally(() => (renewing = false));
    } else if (monotonicMs() - renewedAt >= leaseMs) {
      stop();
      lost();
    }
  }, everyMs);
  return stop;
}
