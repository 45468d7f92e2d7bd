import type { ContainerOptions } from './docker-engine.ts';
import type { SandboxUser } from './sandbox-user.ts';
import type { SlotClaim } from './slot-labels.ts';
import { slotLabels } from './slot-labels.ts';
import type { SlotLimits } from './slot-limits.ts';

export const workspacePath = '/workspace';
export const homePath = '/home/agent';
const doorPath = '/run/flotilla';
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
}

/**
 * Everything a slot's container may touch. The first process is root without capabilities, so that a command, which runs
 * as the sandbox user, can kill every process of its own (`kill -9 -1`) but never the container.
 */
export function containerOptions(settings: ContainerSettings): ContainerOptions {
  const { user, limits, workspaceDirectory, doorDirectory } = settings;
  return {
    Image: settings.image,
    Hostname: 'sandbox',
    User: '0:0',
    WorkingDir: '/',
    Entrypoint: [''],
    Cmd:
      doorDirectory === undefined
        ? ['sleep', 'infinity']
        : ['flotilla-door', `${doorPath}/door.sock`, String(doorPort)],
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
        ...(doorDirectory === undefined ? [] : [bind(doorDirectory, doorPath, true)]),
      ],
      RestartPolicy: { Name: 'no' },
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
