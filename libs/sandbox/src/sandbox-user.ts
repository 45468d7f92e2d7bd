export interface SandboxUser {
  readonly uid: number;
  readonly gid: number;
}

/**
 * The user that commands run as and that owns the workspace: the service's own, so that it can work with the files;
 * 1000 when the service is root, because nothing in a sandbox runs as root but its first process.
 */
export function sandboxUserFor(service: SandboxUser): SandboxUser {
  return service.uid === 0 ? { uid: 1000, gid: 1000 } : service;
}
