import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, test } from 'vitest';
import { openOutlet, OutletClosed } from './open-outlet.ts';

/** A response whose client never reads. */
async function respondToDeafClient(use: (response: ServerResponse) => Promise<void>): Promise<void> {
  const server = createServer();
  const asked = new Promise<ServerResponse>((resolve) => server.once('request', (_, response) => resolve(response)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n');
  socket.pause();
  try {
    await use(await asked);
  } finally {
    socket.destroy();
    server.closeAllConnections();
    server.close();
  }
}

const page = Buffer.alloc(4 * 1024 * 1024);
const fillUp = async (write: () => Promise<void>) => {
  for (let pages = 0; pages < 20; pages += 1) await write();
};

test('a client that does not read is dropped after the limit, with at most a page waiting for it', async () => {
  await respondToDeafClient(async (response) => {
    const outlet = openOutlet(response, 50);
    await expect(fillUp(() => outlet.write(page))).rejects.toThrow(OutletClosed);
    expect(response.destroyed).toBe(true);
    await expect(outlet.write('more')).rejects.toThrow(OutletClosed);
  });
});

test('what need not arrive is dropped while the client is behind', async () => {
  await respondToDeafClient(async (response) => {
    const outlet = openOutlet(response, 50);
    const blocked = fillUp(() => outlet.write(page));
    while (!response.writableNeedDrain) await new Promise((resolve) => setImmediate(resolve));
    const waiting = response.writableLength;
    outlet.offer('a word');
    expect(response.writableLength).toBe(waiting);
    await expect(blocked).rejects.toThrow(OutletClosed);
    outlet.offer('another');
  });
});
