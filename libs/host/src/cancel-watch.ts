import { CancelRequested, RunEnded } from '@flotilla/contracts/events/run-events';
import type { RunId } from '@flotilla/contracts/ids';
import type { Store } from '@flotilla/store/store';

/** Whether somebody asked the run to stop, or it has ended: its log says so. */
export function isCancelled({ grouped }: Pick<Store, 'grouped'>, runId: RunId): Promise<boolean> {
  return grouped.hasEntry({ runId, types: [CancelRequested.type, RunEnded.type] });
}

/** Whether the run has ended: nobody hears what becomes of its steps. */
export function isEnded({ grouped }: Pick<Store, 'grouped'>, runId: RunId): Promise<boolean> {
  return grouped.hasEntry({ runId, types: [RunEnded.type] });
}

export interface CancelWatchOptions {
  readonly read: () => Promise<boolean>;
  readonly everyMs: number;
  readonly onCancelled: () => void;
}

/**
 * Reads whether the run is to stop, now and then and whenever it is woken, until it is or the watch is stopped. A read that fails is
 * made again at the next look.
 */
export function watchCancel({ read, everyMs, onCancelled }: CancelWatchOptions): { wake(): void; stop(): void } {
  let stopped = false;
  let reading = false;
  let again = false;
  const look = async (): Promise<void> => {
    if (stopped) return;
    if (reading) {
      again = true;
      return;
    }
    reading = true;
    const cancelled = await read().catch(() => false);
    reading = false;
    if (cancelled && !stopped) {
      stop();
      onCancelled();
    } else if (again) {
      again = false;
      void look();
    }
  };
  const timer = setInterval(() => void look(), everyMs);
  const stop = (): void => {
    stopped = true;
    clearInterval(timer);
  };
  return { wake: () => void look(), stop };
}
