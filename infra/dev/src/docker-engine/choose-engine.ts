/** What is known once no Docker engine answered. */
export interface EngineFacts {
  /** DOCKER_HOST names one. */
  readonly hostIsSet: boolean;
  /** Where nothing answered, and how. */
  readonly silence: string;
  readonly dockerdInstalled: boolean;
  readonly root: boolean;
  /** Root with apt. */
  readonly canInstall: boolean;
  readonly linux: boolean;
}

export type EngineChoice =
  { readonly kind: 'dockerd' } | { readonly kind: 'apt' } | { readonly kind: 'missing'; readonly reason: string };

/** Where the engine comes from when none answers: dockerd of this machine, then apt. One named by DOCKER_HOST is not replaced. */
export function chooseEngine(facts: EngineFacts): EngineChoice {
  if (facts.hostIsSet)
    return { kind: 'missing', reason: `DOCKER_HOST is set, and it does not answer (${facts.silence})` };
  if (facts.dockerdInstalled && facts.root) return { kind: 'dockerd' };
  if (facts.canInstall) return { kind: 'apt' };
  return { kind: 'missing', reason: `${facts.silence}; ${describeObstacle(facts)}` };
}

function describeObstacle({ silence, dockerdInstalled, linux }: EngineFacts): string {
  if (/EACCES/.test(silence)) return 'this user may not use it: it must be in the group of the socket';
  if (!linux) return 'on this system the Docker engine must be started by hand';
  return dockerdInstalled
    ? 'dockerd is installed, and only root can start it'
    : 'dockerd is not installed, and only root with apt-get can install it';
}
