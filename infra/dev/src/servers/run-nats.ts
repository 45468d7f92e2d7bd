import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { renderNatsConfig, renderSingleUser } from './nats-config.ts';
import { startOwnProcess } from './own-process.ts';
import { probeBanner, probeServer } from './probe.ts';
import type { RunProgram, StartedServer } from './run-program.ts';
import { startOnFreePort } from './run-program.ts';
import { urlOf } from './url-of.ts';

/**
 * Runs nats-server as a child. With `natsAuthorization` the URL names no user, since that block says who there is;
 * without, it is that of one user who may do everything.
 */
export async function runNats(program: RunProgram): Promise<StartedServer> {
  const { dataDirectory, passwords, natsAuthorization } = program;
  const directory = join(dataDirectory, 'nats');
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const configPath = join(directory, 'nats.conf');
  return startOnFreePort('nats', program, async (port, shared) => {
    const address = `127.0.0.1:${port}`;
    const authorization = natsAuthorization ?? renderSingleUser('flotilla', passwords.nats);
    const config = renderNatsConfig({
      listen: address,
      storeDirectory: join(directory, 'store'),
      version: program.program.version,
      authorization,
    });
    await writeFile(configPath, config, { mode: 0o600 });
    const url = natsAuthorization === undefined ? urlOf('nats', passwords, port) : `nats://${address}`;
    const started = await startOwnProcess({
      ...shared,
      directory,
      command: [join(program.program.directory, 'nats-server'), '--config', configPath],
      endSignal: 'SIGTERM',
      probe: () => (natsAuthorization === undefined ? probeServer('nats', url) : probeBanner(url)),
    });
    return { url, ...started };
  });
}
