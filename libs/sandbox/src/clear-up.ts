import { setTimeout as delay } from 'node:timers/promises';

const pausesMs = [100, 300, 1_000, 2_000, 3_000];

/**
 * Sweeps until a sweep finds nothing, for some seconds: an engine may call a container removed that it still shows. Hears of what is in
 * the way; throws what is in the way of the last sweep.
 */
export async function clearUp(sweep: () => Promise<number>, onFault: (error: unknown) => void): Promise<void> {
  for (const pauseMs of pausesMs) {
    try {
      if ((await sweep()) === 0) return;
    } catch (error) {
      onFault(error);
    }
    await delay(pauseMs);
  }
  await sweep();
}
