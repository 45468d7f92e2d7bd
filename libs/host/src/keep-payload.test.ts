import { expect, test } from 'vitest';
import { keepPayload } from './keep-payload.ts';

test.each(['', '{"goal":"x"}', 'é'.repeat(128 * 1024)])('a message of 256 KiB or less is kept whole', (text) => {
  expect(keepPayload(text)).toEqual({ payload: text, payloadBytes: Buffer.byteLength(text) });
});

test('of a larger one the beginning is kept, with its size and without half a character', () => {
  const text = `x${'é'.repeat(200_000)}`;
  const { payload, payloadBytes } = keepPayload(text);
  expect(payloadBytes).toBe(400_001);
  expect(Buffer.byteLength(payload)).toBe(16 * 1024 - 1);
  expect(text.startsWith(payload)).toBe(true);
});
