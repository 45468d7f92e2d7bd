import { setTimeout as delay } from 'node:timers/promises';

const pollMs = 50;

/** Polls a condition; fails by name when it does not hold within the time. */
export async function waitUntil(
  what: string,
  holds: () => boolean | Promise<boolean>,
  withinMs = 120_000,
): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`not within ${withinMs / 1_000} s: ${what}`);
    await delay(pollMs);
  }
}
