import { setTimeout as delay } from 'node:timers/promises';
import type { DockerEngine } from './docker-engine.ts';
import { installationLabel } from './slot-labels.ts';

export interface MemoryWatch {
  /** Whether the container ran out of memory at or after `since`; waits a moment for news when its exit code hints at it. */
  ranOut(container: string, since: number, exitCode: number): Promise<boolean>;
  forget(container: string): void;
}

const exitCodeOfKilled = 137;
const newsDelayMs = 300;
const lookEveryMs = 30;
const longestPauseMs = 30_000;

/**
 * Listens for containers that run out of memory: for a command in a running container the engine tells it in no other way.
 * Reconnects until the signal ends.
 */
export function watchMemory(
  engine: DockerEngine,
  installation: string,
  now: () => number,
  signal: AbortSignal,
): MemoryWatch {
  const lastSeen = new Map<string, number>();
  void listen();

  return {
    async ranOut(container, since, exitCode) {
      const happened = () => (lastSeen.get(container) ?? -Infinity) >= since;
      if (exitCode !== exitCodeOfKilled) return happened();
      for (let waitedMs = 0; waitedMs < newsDelayMs && !happened(); waitedMs += lookEveryMs) await delay(lookEveryMs);
      return happened();
    },
    forget: (container) => void lastSeen.delete(container),
  };

  async function listen(): Promise<void> {
    for (let pauseMs = 1000; !signal.aborted; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      const started = now();
      try {
        const label = `${installationLabel}=${installation}`;
        await engine.watchOutOfMemory(label, (container) => void lastSeen.set(container, now()), signal);
      } catch {
        // Whoever needs the engine next hears that it is gone; here only the connection is to be made again.
      }
      if (now() - started > longestPauseMs) pauseMs = 1000;
      await delay(pauseMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }
}
