import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { doorPort } from './container-options.ts';
import type { DockerEngine, ExecRequest } from './docker-engine.ts';
import type { SandboxUser } from './sandbox-user.ts';

const proxyUrl = `http://127.0.0.1:${doorPort}`;

/** What commands of a slot with a door get in their environment. */
export const doorEnvironment: Readonly<Record<string, string>> = {
  HTTP_PROXY: proxyUrl,
  HTTPS_PROXY: proxyUrl,
  http_proxy: proxyUrl,
  https_proxy: proxyUrl,
  npm_config_proxy: proxyUrl,
  npm_config_https_proxy: proxyUrl,
  NODE_USE_ENV_PROXY: '1',
};

/**
 * Waits until the forwarder, the first process of a slot with a door, takes connections. Throws DOOR_REFUSED when it does not,
 * such as in an image that has none.
 */
export async function waitForForwarder(engine: DockerEngine, container: string, user: SandboxUser): Promise<void> {
  const tryFor5s = `for n in $(seq 100); do (exec 3<>/dev/tcp/127.0.0.1/${doorPort}) 2>/dev/null && exit 0; sleep 0.05; done; exit 1`;
  const argv = ['/bin/bash', '-c', tryFor5s];
  const request = { argv, user: `${user.uid}:${user.gid}`, directory: '/', environment: {}, stdin: false };
  const exitCode = await runToEnd(engine, container, request);
  if (exitCode === 0) return;
  const reason = 'its forwarder does not start in the container; does the image have flotilla-door?';
  throw new FlotillaError(errors.doorRefused, { reason });
}

async function runToEnd(engine: DockerEngine, container: string, request: ExecRequest): Promise<number | undefined> {
  try {
    const { id, stream } = await engine.startExec(container, request);
    stream.resume();
    await new Promise<void>((resolve) => {
      stream
        .on('end', resolve)
        .on('close', resolve)
        .on('error', () => resolve());
    });
    return (await engine.execState(container, id)).exitCode;
  } catch (error) {
    // The container is gone when its first process is not there to be started.
    if (error instanceof FlotillaError && error.is(errors.slotLost)) return undefined;
    throw error;
  }
}
