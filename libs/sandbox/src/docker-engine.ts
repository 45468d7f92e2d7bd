import type { Duplex } from 'node:stream';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { errors } from '@flotilla/errors/catalogue';
import Docker from 'dockerode';

export type ContainerOptions = Docker.ContainerCreateOptions;

export interface ContainerProcess {
  readonly pid: number;
  readonly uid: number;
  /** As ps prints it: the first letter is the state, Z a zombie. */
  readonly state: string;
  /** The container's first process, which runs as the container's own user. */
  readonly first: boolean;
}

export interface ContainerFacts {
  readonly id: string;
  readonly labels: Readonly<Record<string, string>>;
  /** What is bound into it, as the engine's host names it. */
  readonly binds: readonly { readonly source: string; readonly target: string }[];
}

export interface ExecRequest {
  readonly argv: readonly string[];
  readonly user: string;
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly stdin: boolean;
}

export interface StartedExec {
  readonly id: string;
  /** Docker's framed output (see output-frames.ts); writable when the request asked for stdin. */
  readonly stream: Duplex;
}

/** What this library asks of the Docker engine; the only file that knows dockerode. */
export interface DockerEngine {
  /** Throws DOCKER_UNAVAILABLE when it does not answer. */
  ping(): Promise<void>;
  /** The content id of an image. Throws SANDBOX_IMAGE_MISSING. */
  imageId(image: string): Promise<string>;
  createContainer(name: string, options: ContainerOptions): Promise<string>;
  startContainer(container: string): Promise<void>;
  /** Kills every process of the container at once and starts it again with empty tmpfs mounts. */
  restartContainer(container: string): Promise<void>;
  renameContainer(container: string, name: string): Promise<void>;
  /** Safe to repeat: a container that is not there counts as removed. */
  removeContainer(container: string): Promise<void>;
  isRunning(container: string): Promise<boolean>;
  listProcesses(container: string): Promise<readonly ContainerProcess[]>;
  listContainers(label: string): Promise<readonly ContainerFacts[]>;
  /** The one way a process starts in a container. */
  startExec(container: string, request: ExecRequest): Promise<StartedExec>;
  execState(
    container: string,
    exec: string,
  ): Promise<{ readonly running: boolean; readonly exitCode: number | undefined; readonly pid: number | undefined }>;
  /** Calls `onContainer` with the id of each container that ran out of memory, until the signal or the stream ends. */
  watchOutOfMemory(label: string, onContainer: (container: string) => void, signal: AbortSignal): Promise<void>;
}

const callTimeoutMs = 60_000;

/** `host` as in DOCKER_HOST (unix:// or tcp://); default: the local socket. */
export function connectDocker(host?: string): DockerEngine {
  const connection = parseDockerHost(host);
  const calls = new Docker({ ...connection, timeout: callTimeoutMs });
  // A command may be silent for longer than any call may take.
  const streams = new Docker(connection);
  const container = (id: string) => calls.getContainer(id);

  return {
    ping: () => translate(async () => void (await calls.ping())),
    imageId: (image) => translate(async () => (await calls.getImage(image).inspect()).Id, { image }),
    createContainer: (name, options) =>
      translate(async () => (await calls.createContainer({ ...options, name })).id, { image: options.Image }),
    startContainer: (id) => translate(() => container(id).start()),
    restartContainer: (id) => inContainer(id, () => container(id).restart({ t: 0 })),
    renameContainer: (id, name) => inContainer(id, () => container(id).rename({ name })),
    removeContainer: (id) =>
      translate(async () => {
        try {
          await container(id).remove({ force: true, v: true });
        } catch (error) {
          // 409: another call is removing it already.
          if (![404, 409].includes(statusOf(error))) throw error;
        }
      }),
    isRunning,
    listProcesses: (id) =>
      inContainer(id, async () => {
        const [{ State }, top] = await Promise.all([
          container(id).inspect(),
          container(id).top({ ps_args: '-eo pid,uid,stat' }),
        ]);
        return parseProcesses(top, State.Pid);
      }),
    listContainers: (label) =>
      translate(async () => {
        const found = await calls.listContainers({ all: true, filters: { label: [label] } });
        return found.map(({ Id, Labels, Mounts }) => ({
          id: Id,
          labels: Labels,
          binds: Mounts.map(({ Source, Destination }) => ({ source: Source, target: Destination })),
        }));
      }),
    startExec: (id, request) =>
      inContainer(id, async () => {
        const exec = await container(id).exec({
          Cmd: [...request.argv],
          User: request.user,
          WorkingDir: request.directory,
          Env: Object.entries(request.environment).map(([name, value]) => `${name}=${value}`),
          AttachStdin: request.stdin,
          AttachStdout: true,
          AttachStderr: true,
          Tty: false,
        });
        const starting = streams.getExec(exec.id).start({ hijack: true, stdin: request.stdin, Tty: false });
        const stream = await inTime(starting, (late) => late.destroy());
        return { id: exec.id, stream };
      }),
    execState: (id, exec) =>
      inContainer(id, async () => {
        const { Running, ExitCode, Pid } = await calls.getExec(exec).inspect();
        return { running: Running, exitCode: ExitCode ?? undefined, pid: Running ? Pid : undefined };
      }),
    watchOutOfMemory: (label, onContainer, signal) =>
      translate(async () => {
        const filters = JSON.stringify({ type: ['container'], event: ['oom'], label: [label] });
        const events: AsyncIterable<Buffer | string> = await streams.getEvents({ filters, abortSignal: signal });
        let rest = '';
        for await (const chunk of events) {
          const lines = (rest + chunk.toString()).split('\n');
          rest = lines.pop() ?? '';
          for (const line of lines) if (line !== '') onContainer(JSON.parse(line).Actor.ID);
        }
      }),
  };

  function isRunning(id: string): Promise<boolean> {
    return translate(async () => {
      try {
        return (await container(id).inspect()).State.Running;
      } catch (error) {
        if (statusOf(error) === 404) return false;
        throw error;
      }
    });
  }

  /** A container that is going away makes the engine answer with errors of every kind: what counts is whether it runs. */
  async function inContainer<T>(id: string, call: () => Promise<T>): Promise<T> {
    try {
      return await translate(call);
    } catch (error) {
      if (error instanceof FlotillaError || (await isRunning(id))) throw error;
      throw new FlotillaError(errors.slotLost, { slot: id.slice(0, 12), reason: reasonOf(error) }, { cause: error });
    }
  }
}

/** The client of streams has no time-out of its own. What comes too late is given to `discard`. */
async function inTime<T>(call: Promise<T>, discard: (late: T) => void): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      call.then(discard, () => undefined);
      reject(Object.assign(new Error(`no answer in ${callTimeoutMs} ms`), { code: 'ETIMEDOUT' }));
    }, callTimeoutMs);
  });
  try {
    return await Promise.race([call, late]);
  } finally {
    clearTimeout(timer);
  }
}

function parseDockerHost(host: string | undefined): Docker.DockerOptions {
  if (host === undefined || host === '') return { socketPath: '/var/run/docker.sock' };
  if (host.startsWith('unix://')) return { socketPath: host.slice('unix://'.length) };
  const url = new URL(host.includes('://') ? host : `tcp://${host}`);
  const protocol = url.protocol === 'https:' || url.port === '2376' ? 'https' : 'http';
  return { protocol, host: url.hostname, port: url.port === '' ? 2375 : Number(url.port) };
}

function parseProcesses(
  top: { readonly Processes: readonly (readonly string[])[] | null },
  first: number,
): readonly ContainerProcess[] {
  return (top.Processes ?? []).map(([pid = '', uid = '', state = '']) => ({
    pid: Number(pid),
    uid: Number(uid),
    state,
    first: Number(pid) === first,
  }));
}

/** Turns the client's errors into ours: an engine that is gone is a wait, an image that is not there the operator's. */
async function translate<T>(
  call: () => Promise<T>,
  { image }: { readonly image?: string | undefined } = {},
): Promise<T> {
  try {
    return await call();
  } catch (error) {
    const status = statusOf(error);
    if (status === 0 && isConnectionError(error)) {
      throw new FlotillaError(errors.dockerUnavailable, { reason: reasonOf(error) }, { cause: error });
    }
    if (status === 404 && image !== undefined) {
      throw new FlotillaError(errors.sandboxImageMissing, { image }, { cause: error });
    }
    throw error;
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message.trim() : String(error);
}

function statusOf(error: unknown): number {
  return error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : 0;
}

const connectionCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'EPIPE',
  'EACCES',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);

function isConnectionError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && connectionCodes.has(error.code);
}
