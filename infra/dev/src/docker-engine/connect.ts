import Dockerode from 'dockerode';

export type DockerConnection =
  | { readonly kind: 'answers'; readonly docker: Dockerode; readonly version: string; readonly at: string }
  | { readonly kind: 'silent'; readonly at: string; readonly reason: string };

const defaultSocket = '/var/run/docker.sock';

const answerMs = 3_000;

/** Asks the Docker engine at DOCKER_HOST, or at the usual socket, for its version; it has three seconds to answer. */
export async function connectToDocker(
  environment: Readonly<Record<string, string | undefined>>,
): Promise<DockerConnection> {
  const host = environment['DOCKER_HOST'];
  const at = host === undefined || host === '' ? `unix://${defaultSocket}` : host;
  try {
    const docker = openDocker(at);
    const { Version } = await withinTime(docker.version(), answerMs);
    return { kind: 'answers', docker, version: Version, at };
  } catch (error) {
    return { kind: 'silent', at, reason: error instanceof Error ? error.message : String(error) };
  }
}

/** A client for an address as DOCKER_HOST names it. That of our own process the client reads itself, with certificates and ssh. */
function openDocker(at: string): Dockerode {
  if (at === (process.env['DOCKER_HOST'] || `unix://${defaultSocket}`)) return new Dockerode();
  const address = new URL(at);
  // An empty host keeps the client from using the one of our own process.
  if (address.protocol === 'unix:') return new Dockerode({ host: '', socketPath: address.pathname });
  return new Dockerode({ host: address.hostname, port: address.port, protocol: 'http' });
}

async function withinTime<Result>(work: Promise<Result>, limitMs: number): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`nothing within ${limitMs / 1_000} s`)), limitMs);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
