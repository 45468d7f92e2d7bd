import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';

/**
 * A loopback port that was free a moment ago: the one kept in the file `path` from the last run if it still is, so that
 * a clone's URLs stay the same from run to run. Another process may take it before its user does: be ready to ask again.
 */
export async function takePort(path: string): Promise<number> {
  const kept = Number(await readFile(path, 'utf8').catch(() => '0'));
  const port = (kept > 0 && (await tryPort(kept))) || (await tryPort(0)) || 0;
  await writeFile(path, String(port));
  return port;
}

function tryPort(wanted: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.on('error', () => resolve(undefined));
    server.listen({ port: wanted, host: '127.0.0.1', exclusive: true }, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : undefined));
    });
  });
}
