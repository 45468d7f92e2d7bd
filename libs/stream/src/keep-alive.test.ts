import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { keepAlive } from './keep-alive.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const start = (renew: () => Promise<boolean>) => {
  const events: string[] = [];
  const stop = keepAlive({
    renew: () => (events.push('renew'), renew()),
    tellBroker: () => events.push('broker'),
    lost: () => events.push('lost'),
    everyMs: 5_000,
    leaseMs: 15_000,
    monotonicMs: () => Date.now(),
  });
  return { events, stop };
};

test('the lease is renewed before the broker is told', async () => {
  const { events, stop } = start(() => Promise.resolve(true));
  await vi.advanceTimersByTimeAsync(10_000);
  stop();
  expect(events).toEqual(['renew', 'broker', 'renew', 'broker']);
});

test('a lease that is lost is told at once, and the broker hears nothing more', async () => {
  const { events } = start(() => Promise.resolve(false));
  await vi.advanceTimersByTimeAsync(60_000);
  expect(events).toEqual(['renew', 'lost']);
});

test('a store that cannot say is asked again, and counts as lost when the lease has run out', async () => {
  const { events } = start(() => Promise.reject(new Error('down')));
  await vi.advanceTimersByTimeAsync(14_000);
  expect(events).toEqual(['renew', 'renew']);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(events).toEqual(['renew', 'renew', 'renew', 'lost']);
});

test('a store that answers again in time keeps the lease', async () => {
  let down = true;
  const { events, stop } = start(() => (down ? Promise.reject(new Error('down')) : Promise.resolve(true)));
  await vi.advanceTimersByTimeAsync(11_000);
  down = false;
  await vi.advanceTimersByTimeAsync(30_000);
  stop();
  expect(events).not.toContain('lost');
});

test('a renewal that hangs counts as lost when the lease has run out', async () => {
  const { events } = start(() => new Promise(() => undefined));
  await vi.advanceTimersByTimeAsync(60_000);
  expect(events).toEqual(['renew', 'lost']);
});

test('once stopped it neither renews nor tells, also where a renewal was under way', async () => {
  const answer = Promise.withResolvers<boolean>();
  const { events, stop } = start(() => answer.promise);
  await vi.advanceTimersByTimeAsync(5_000);
  stop();
  answer.resolve(true);
  await vi.advanceTimersByTimeAsync(30_000);
  expect(events).toEqual(['renew']);
});
