import { setTimeout as delay } from 'node:timers/promises';

/** Waits, or less where the campaign is over: never throws, since what follows puts things right. */
export async function hold(milliseconds: number, signal: AbortSignal): Promise<void> {
  await delay(milliseconds, undefined, { signal }).catch(() => undefined);
}
