import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isLockTaken } from '../machine/file-lock.ts';
import { probeBanner, probeServer } from './probe.ts';
import { keepPasswords } from './passwords.ts';
import type { ServerName } from './source.ts';
import { urlOf } from './url-of.ts';

/** The server of a clone that runs now, started by whichever process: `undefined` when none does or it does not answer. */
export async function readRunning(
  server: ServerName,
  dataDirectory: string,
): Promise<{ readonly version: string; readonly port: number } | undefined> {
  if (!(await isLockTaken(join(dataDirectory, 'servers.lock')))) return undefined;
  const port = Number(await readFile(join(dataDirectory, `${server}.port`), 'utf8').catch(() => '0'));
  if (!(port > 0)) return undefined;
  const url = urlOf(server, await keepPasswords(dataDirectory), port);
  const probe = server === 'nats' ? await probeBanner(url) : await probeServer(server, url);
  return probe.kind === 'answers' ? { version: probe.version, port } : undefined;
}
