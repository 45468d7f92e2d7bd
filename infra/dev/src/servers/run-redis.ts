import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startOwnProcess } from './own-process.ts';
import { probeServer } from './probe.ts';
import { renderRedisConfig } from './redis-config.ts';
import { startOnFreePort } from './run-program.ts';
import type { RunProgram, StartedServer } from './run-program.ts';
import { urlOf } from './url-of.ts';

/** Runs redis-server as a child; the password is in its configuration file and in the URL, never on the command line. */
export async function runRedis(program: RunProgram): Promise<StartedServer> {
  const { dataDirectory, passwords } = program;
  const directory = join(dataDirectory, 'redis');
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const configPath = join(directory, 'redis.conf');
  return startOnFreePort('redis', program, async (port, shared) => {
    await writeFile(configPath, renderRedisConfig({ port, directory, password: passwords.redis }), { mode: 0o600 });
    const url = urlOf('redis', passwords, port);
    const started = await startOwnProcess({
      ...shared,
      directory,
      command: [join(program.program.directory, 'redis-server'), configPath],
      endSignal: 'SIGTERM',
      probe: () => probeServer('redis', url),
    });
    return { url, ...started };
  });
}
