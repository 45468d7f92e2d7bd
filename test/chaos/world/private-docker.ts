import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { findCommand } from '@flotilla/dev/find-command';
import { runCommand } from '@flotilla/dev/run-command';
import Dockerode from 'dockerode';
import { waitUntil } from '../../fleet/harness/wait-until.ts';

/** A Docker engine of the campaign's own, so that it may be ended without anybody else's containers being hurt. */
export interface PrivateDocker {
  /** As DOCKER_HOST names it. */
  readonly host: string;
  readonly docker: Dockerode;
  readonly pid: number;
  /** Ends the engine and all its containers at once, as a crash of the machine's engine would. */
  kill(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts one in a directory, with a socket in another whose path is short; takes the image over from the engine at `from`. */
export async function startPrivateDocker(options: {
  readonly directory: string;
  readonly socketDirectory: string;
  readonly from: Dockerode;
  readonly image: string;
}): Promise<PrivateDocker> {
  const [setpriv, dockerd] = await Promise.all(['setpriv', 'dockerd'].map((name) => findCommand(name, process.env)));
  if (setpriv === undefined || dockerd === undefined || process.getuid?.() !== 0)
    throw new FlotillaError(errors.dockerMissing, { reason: 'a Docker engine of its own needs dockerd and root' });
  await mkdir(options.directory, { recursive: true });
  const socket = join(options.socketDirectory, 'docker.sock');
  const docker = new Dockerode({ host: '', socketPath: socket });
  const logPath = join(options.directory, 'docker.log');
  const log = await open(logPath, 'a', 0o600);
  let child: ChildProcess | undefined;

  const launch = (): void => {
    child = spawn(
      setpriv,
      [
        // However the campaign ends, its engine ends with it.
        ...['--pdeathsig', 'TERM', '--', dockerd],
        ...['--host', `unix://${socket}`, '--data-root', join(options.directory, 'data')],
        ...['--exec-root', join(options.socketDirectory, 'exec'), '--pidfile', join(options.directory, 'docker.pid')],
        ...['--bridge', 'none', '--iptables=false', '--ip6tables=false'],
      ],
      { cwd: '/', detached: true, stdio: ['ignore', log.fd, log.fd] },
    );
  };
  /** An engine that its containerd does not answer in time, on a busy machine, gives up; then another one is started. */
  const answers = async (): Promise<boolean> => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) launch();
    return docker.ping().then(
      () => true,
      () => false,
    );
  };
  const start = async (): Promise<void> => {
    await waitUntil('the Docker engine of the campaign answers', answers).catch(async (error: unknown) => {
      const words = (await readFile(logPath, 'utf8')).trimEnd().split('\n').slice(-5).join(' | ');
      throw new Error(words, { cause: error });
    });
  };
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill(signal);
    await gone;
  };
  await start();
  await docker.loadImage(await options.from.getImage(options.image).get());
  await waitUntil('the image is taken over', () =>
    docker
      .getImage(options.image)
      .inspect()
      .then(
        () => true,
        () => false,
      ),
  );
  return {
    host: `unix://${socket}`,
    docker,
    get pid() {
      return child?.pid ?? 0;
    },
    kill: () => end('SIGKILL'),
    start,
    stop: async () => {
      await end('SIGTERM');
      await log.close();
      for (const directory of [options.directory, options.socketDirectory]) await unmountBelow(directory);
    },
  };
}

/** Containers whose engine was killed leave their file systems and name spaces mounted. */
async function unmountBelow(directory: string): Promise<void> {
  const mounts = (await readFile('/proc/self/mounts', 'utf8')).split('\n').map((line) => line.split(' ')[1] ?? '');
  for (const mount of mounts.filter((path) => path.startsWith(`${directory}/`)).reverse())
    await runCommand('umount', ['--lazy', mount]);
}
