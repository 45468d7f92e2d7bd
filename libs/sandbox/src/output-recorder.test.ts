import fc from 'fast-check';
import { expect, test } from 'vitest';
import { OutputRecorder } from './output-recorder.ts';

function record(limitBytes: number, texts: readonly string[]): OutputRecorder {
  const recorder = new OutputRecorder(limitBytes);
  for (const text of texts) recorder.append(text);
  return recorder;
}

test('output within the limit comes back whole, however it arrives', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'grapheme' })), (texts) => {
      const whole = texts.join('');
      const recorder = record(Buffer.byteLength(whole), texts);
      expect(recorder.text()).toBe(whole);
      expect(recorder.truncated).toBe(false);
    }),
  );
});

test('output over the limit keeps its beginning and its end, whole characters, and says how much is missing', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: 'grapheme', minLength: 1 }), { minLength: 1 }),
      fc.nat(40),
      (texts, limitBytes) => {
        const whole = texts.join('');
        fc.pre(Buffer.byteLength(whole) > limitBytes);
        const recorder = record(limitBytes, texts);
        const parts = /^([^]*)\n\[\.\.\. (\d+) bytes left out \.\.\.\]\n([^]*)$/.exec(recorder.text());
        const [, head = '?', left = '?', tail = '?'] = parts ?? [];
        expect(whole.startsWith(head) && whole.endsWith(tail)).toBe(true);
        expect(Buffer.byteLength(head) + Buffer.byteLength(tail)).toBeLessThanOrEqual(limitBytes);
        expect(Buffer.byteLength(head) + Number(left) + Buffer.byteLength(tail)).toBe(recorder.totalBytes);
        expect(recorder.truncated).toBe(true);
      },
    ),
  );
});

test('output in small pieces costs no more memory than the limit, however long it is', () => {
  const before = process.memoryUsage().heapUsed;
  const recorder = new OutputRecorder(2_000_000);
  for (let i = 0; i < 1_500_000; i += 1) recorder.append('0');
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(60_000_000);
  expect(recorder.text()).toBe('0'.repeat(1_500_000));
  for (let i = 0; i < 1_500_000; i += 1) recorder.append('0');
  expect(Buffer.byteLength(recorder.text())).toBeLessThan(2_000_100);
  expect(recorder.totalBytes).toBe(3_000_000);
});
