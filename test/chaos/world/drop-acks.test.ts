import { expect, test } from 'vitest';
import { dropAcks } from './drop-acks.ts';

const ack = 'PUB $JS.ACK.WORK.router.1.1.1.1.1 4\r\n+ACK\r\n';
const working = 'PUB $JS.ACK.WORK.router.1.1.1.1.1 4\r\n+WPI\r\n';
const others = 'PING\r\nPUB a.b _INBOX.x 5\r\n$JS.A\r\nHPUB a 12 14\r\nNATS/1.0\r\n\r\nhi\r\n';

async function pass(text: string, losing: boolean, chunkBytes: number): Promise<string> {
  const stream = dropAcks({ losing, lost: 0 });
  for (let at = 0; at < text.length; at += chunkBytes) stream.write(Buffer.from(text.slice(at, at + chunkBytes)));
  stream.end();
  return Buffer.concat(await stream.toArray()).toString();
}

test.each([1, 7, 1_000])(
  'acknowledgements are lost and nothing else, however the bytes come (%i at a time)',
  async (bytes) => {
    expect(await pass(`${others}${ack}${working}${others}`, true, bytes)).toBe(`${others}${working}${others}`);
  },
);

test('while nothing is lost everything passes', async () => {
  expect(await pass(`${ack}${others}`, false, 5)).toBe(`${ack}${others}`);
});
