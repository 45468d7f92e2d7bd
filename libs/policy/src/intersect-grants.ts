import type { Grants } from '@flotilla/contracts/grants';
import type { GrantLayers } from './tool-call.ts';

/**
 * Grants that permit only what all of them permit. The documents stay side by side, since no single list of globs says
 * "matches one of these and one of those", and a call must pass each: so `ask` and `false` survive, excludes add up, classes
 * have to be in every list, one `network: false` is enough and the least `max_depth` counts. A document that does not limit
 * something has no say in it; a capability that it does not list is not granted.
 */
export function intersectGrants(...grants: readonly (Grants | GrantLayers)[]): GrantLayers {
  // Array.isArray does not narrow readonly arrays out of a union.
  return grants.flatMap((each) => (Array.isArray(each) ? (each as GrantLayers) : [each as Grants]));
}
