import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { rejectOn } from './reject-on.ts';

test('a race is lost to a signal that aborts, before it or during it', async () => {
  const stop = new AbortController();
  const during = Promise.race([new Promise(() => undefined), rejectOn(stop.signal).promise]);
  stop.abort(new Error('stopped'));
  await expect(during).rejects.toThrow('stopped');
  await expect(Promise.race([new Promise(() => undefined), rejectOn(stop.signal).promise])).rejects.toThrow('stopped');
});

test('a race that is forgotten leaves nothing with the signal', async () => {
  const { signal } = new AbortController();
  for (let races = 0; races < 100; races += 1) {
    const rejection = rejectOn(signal);
    await Promise.race([Promise.resolve(), rejection.promise]);
    rejection.forget();
  }
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});
