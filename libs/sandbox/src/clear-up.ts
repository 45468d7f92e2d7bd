import { setTimeout as delay } from 'node:timers/promises';

const firstPauseMs = 100;
const longestPauseMs = 5_000;

/**
 * Sweeps until a sweep finds nothing, at last after so much waiting: an engine may call a container removed that it still shows. Hears of
 * what is in the way; throws what is in the way of the last sweep. Answers how much that one found.
 */
export async function clearUp(
  sweep: () => Promise<number>,
  { patienceMs, onFault }: { readonly patienceMs: number; readonly onFault: (error: unknown) => void },
): Promise<number> {
  let pauseMs = firstPauseMs;
  for (let waitedMs = 0; waitedMs < patienceMs; waitedMs += pauseMs, pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    try {
      if ((await sweep()) === 0) return 0;
    } catch (error) {
      onFault(error);
    }
    await delay(pauseMs);
  }
  return sweep();
}
