import type { Grants, Mode } from '@flotilla/contracts/grants';
import type { GrantLayers } from './tool-call.ts';

/**
 * Grants that permit only what all of them permit. The documents stay side by side, since no single list of globs says
 * "matches one of these and one of those"; a call must pass each.
 */
export function intersectGrants(...grants: readonly (Grants | GrantLayers)[]): GrantLayers {
  // Array.isArray does not narrow readonly arrays out of a union.
  return grants.flatMap((each) => (Array.isArray(each) ? (each as GrantLayers) : [each as Grants]));
}

const modesFromFree: readonly Mode[] = ['auto', 'normal', 'plan'];

export function strictestMode(first: Mode, ...rest: readonly Mode[]): Mode {
  return rest.reduce((held, next) => (modesFromFree.indexOf(next) > modesFromFree.indexOf(held) ? next : held), first);
}
