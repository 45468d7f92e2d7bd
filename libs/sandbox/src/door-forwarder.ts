import { doorPath, doorPort } from './container-options.ts';
import type { DockerEngine } from './docker-engine.ts';
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

/** Waits until the forwarder, the first process of a slot with a door, takes connections. */
export async function waitForForwarder(engine: DockerEngine, container: string, user: SandboxUser): Promise<void> {
  const tryFor5s = `for n in $(seq 100); do (exec 3<>/dev/tcp/127.0.0.1/${doorPort}) 2>/dev/null && exit 0; sleep 0.05; done; exit 1`;
  const argv = ['/bin/bash', '-c', tryFor5s];
  const request = { argv, user: `${user.uid}:${user.gid}`, directory: '/', environment: {}, stdin: false };
  const { id, stream } = await engine.startExec(container, request);
  stream.resume();
  await new Promise<void>((resolve) => {
    stream
      .on('end', resolve)
      .on('close', resolve)
      .on('error', () => resolve());
  });
  const { exitCode } = await engine.execState(container, id);
  if (exitCode !== 0) throw new Error(`the forwarder of ${doorPath} does not start in the container`);
}
