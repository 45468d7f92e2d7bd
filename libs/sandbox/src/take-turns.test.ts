import { expect, test } from 'vitest';
import { createGate, createTurns } from './take-turns.ts';

test('turns are taken in order, and a failure stops nobody', async () => {
  const inTurn = createTurns();
  const seen: string[] = [];
  const first = inTurn(async () => {
    await Promise.resolve();
    seen.push('first');
    throw new Error('first failed');
  });
  const second = inTurn(async () => void seen.push('second'));
  await expect(first).rejects.toThrow('first failed');
  await second;
  expect(seen).toEqual(['first', 'second']);
});

test('a gate lets no more in than its limit, and everybody in the end', async () => {
  const through = createGate(2);
  let inside = 0;
  let most = 0;
  await Promise.all(
    Array.from({ length: 7 }, () =>
      through(async () => {
        inside += 1;
        most = Math.max(most, inside);
        await new Promise((resolve) => setImmediate(resolve));
        inside -= 1;
      }),
    ),
  );
  expect(most).toBe(2);
  expect(inside).toBe(0);
});
