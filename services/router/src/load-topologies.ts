import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { compileTopology, readTopology } from '@flotilla/workflow/compile-topology';
import type { Slip } from '@flotilla/workflow/slip';
import type { TopologyWarning } from '@flotilla/workflow/topology';

/** The documents that come with Flotilla. */
export const shippedTopologies = ['feature_builder', 'quick_fix'] as const;

/** Reads and compiles them, their examples told; what is hardly meant is given to `warn`. Throws TOPOLOGY_INVALID. */
export function loadTopologies(
  warn: (warning: TopologyWarning & { readonly topology: string }) => void,
): ReadonlyMap<string, Slip> {
  const { resolve } = createRequire(import.meta.url);
  const slips = shippedTopologies.map((name) => {
    const text = readFileSync(resolve(`@flotilla/workflow/topologies/${name}.yaml`), 'utf8');
    const slip = compileTopology(text);
    for (const warning of readTopology(text).warnings) warn({ topology: name, ...warning });
    return slip;
  });
  return new Map(slips.map((slip) => [slip.topology, slip]));
}
