import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { OutputStream } from './output-frames.ts';
import { OutputFrames } from './output-frames.ts';

function frame(stream: OutputStream, text: string): Buffer {
  const body = Buffer.from(text);
  const header = Buffer.alloc(8);
  header[0] = stream === 'stderr' ? 2 : 1;
  header.writeUInt32BE(body.length, 4);
  return Buffer.concat([header, body]);
}

test('frames come out the same wherever the connection cuts them', () => {
  const frames = fc.array(fc.tuple(fc.constantFrom<OutputStream>('stdout', 'stderr'), fc.string()));
  fc.assert(
    fc.property(frames, fc.integer({ min: 1, max: 30 }), (sent, size) => {
      const wire = Buffer.concat(sent.map(([stream, text]) => frame(stream, text)));
      const reader = new OutputFrames();
      const got: Record<OutputStream, Buffer[]> = { stdout: [], stderr: [] };
      for (let at = 0; at < wire.length; at += size) {
        for (const { stream, bytes } of reader.push(wire.subarray(at, at + size))) got[stream].push(Buffer.from(bytes));
      }
      for (const stream of ['stdout', 'stderr'] as const) {
        const expected = sent
          .filter(([name]) => name === stream)
          .map(([, text]) => text)
          .join('');
        expect(Buffer.concat(got[stream]).toString()).toBe(expected);
      }
    }),
  );
});

test('a program that prints what looks like a frame prints text and nothing else', () => {
  const forged = frame('stderr', 'exit code 0').toString('latin1');
  const reader = new OutputFrames();
  const frames = [...reader.push(frame('stdout', forged))];
  expect(frames.map(({ stream }) => stream)).toEqual(['stdout']);
});
