import type { ContainerOptions } from './docker-engine.ts';
import type { SandboxUser } from './sandbox-user.ts';
import type { SlotClaim } from './slot-labels.ts';
import { slotLabels } from './slot-labels.ts';
import type { SlotLimits } from './slot-limits.ts';

export const workspacePath = '/workspace';
export const hostName = 'sandbox';
export const homePath = '/home/agent';
const doorPath = '/run/flotilla';
const heartbeatPath = '/run/flotilla-heartbeat';
export const doorPort = 3128;

export interface ContainerSettings {
  readonly image: string;
  readonly installation: string;
  /** The pool that started the container. */
  readonly owner: string;
  readonly slot: string;
  readonly claim: SlotClaim | undefined;
  readonly user: SandboxUser;
  readonly limits: SlotLimits;
  /** Bound at /workspace. The same path for this process and for the Docker engine. */
  readonly workspaceDirectory: string;
  /** Holds the door's socket; bound read-only. Without it there is no way out of the container at all. */
  readonly doorDirectory: string | undefined;
  /** The file that the pool writes while it lives; bound read-only, and the slot ends when it stops changing. */
  readonly heartbeatFile: string;
}

/** Looks every 10 s, and gives up after four looks at the same beat: within a minute, and never for a pool that is only slow. */
const lookEveryS = 10;
const looksAtOneBeat = 4;

/**
 * Runs its arguments as the first process and ends it, and with it the container, when the heartbeat stops. It looks with
 * what bash has built in, since a command may have taken every process there is; and it counts looks instead of comparing
 * times, so that a machine that slept ends nothing.
 */
const endWithOwner = `
(
  exec 3<> <(:) || kill -9 $$
  last= same=0
  while [ "$same" -lt ${looksAtOneBeat} ]; do
    read -r -t ${lookEveryS} -u 3
    beat=
    read -r beat < ${heartbeatPath}
    if [ "$beat" = "$last" ]; then same=$((same + 1)); else last=$beat same=0; fi
  done
  kill -9 $$
) 2>/dev/null &
exec "$@"
`;

/**
 * Everything a slot's container may touch. The first process is root without capabilities, so that a command, which runs
 * as the sandbox user, can kill every process of its own (`kill -9 -1`) but never the container.
 */
export function containerOptions(settings: ContainerSettings): ContainerOptions {
  const { user, limits, workspaceDirectory, doorDirectory, heartbeatFile } = settings;
  const firstProcess =
    doorDirectory === undefined ? ['sleep', 'infinity'] : ['flotilla-door', `${doorPath}/door.sock`, String(doorPort)];
  return {
    Image: settings.image,
    Hostname: hostName,
    User: '0:0',
    WorkingDir: '/',
    Entrypoint: [''],
    Cmd: ['/bin/bash', '-c', endWithOwner, 'flotilla', ...firstProcess],
    Env: [],
    Labels: slotLabels(settings),
    AttachStdin: false,
    AttachStdout: false,
    AttachStderr: false,
    OpenStdin: false,
    Tty: false,
    HostConfig: {
      NetworkMode: 'none',
      ReadonlyRootfs: true,
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges'],
      Privileged: false,
      Init: true,
      IpcMode: 'private',
      Memory: limits.memoryBytes,
      MemorySwap: limits.memoryBytes,
      PidsLimit: limits.processes,
      NanoCpus: Math.round(limits.cpus * 1e9),
      Ulimits: [
        { Name: 'nofile', Soft: limits.openFiles, Hard: limits.openFiles },
        { Name: 'fsize', Soft: limits.fileBytes, Hard: limits.fileBytes },
        { Name: 'core', Soft: 0, Hard: 0 },
      ],
      Tmpfs: {
        '/tmp': `rw,exec,nosuid,nodev,mode=1777,size=${limits.temporaryBytes}`,
        [homePath]: `rw,exec,nosuid,nodev,mode=0700,uid=${user.uid},gid=${user.gid},size=${limits.homeBytes}`,
      },
      Mounts: [
        bind(workspaceDirectory, workspacePath, false),
        bind(heartbeatFile, heartbeatPath, true),
        ...(doorDirectory === undefined ? [] : [bind(doorDirectory, doorPath, true)]),
      ],
      RestartPolicy: { Name: 'no' },
      AutoRemove: true,
      LogConfig: { Type: 'none', Config: {} },
    },
  };
}

/** A mount rather than a bind string: a colon in the path is no separator, and a missing directory is an error. */
function bind(source: string, target: string, readOnly: boolean) {
  return {
    Type: 'bind' as const,
    Source: source,
    Target: target,
    ReadOnly: readOnly,
    BindOptions: { Propagation: 'rprivate' as const },
  };
}
