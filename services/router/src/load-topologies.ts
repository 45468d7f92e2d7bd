import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { compileTopology } from '@flotilla/workflow/compile-topology';
import type { Slip } from '@flotilla/workflow/slip';

/** The documents that come with Flotilla. */
export const shippedTopologies = ['feature_builder', 'quick_fix'] as const;

/** Reads and compiles them, their examples told. Throws TOPOLOGY_INVALID. */
export function loadTopologies(): ReadonlyMap<string, Slip> {
  const { resolve } = createRequire(import.meta.url);
  const slips = shippedTopologies.map((name) =>
    compileTopology(readFileSync(resolve(`@flotilla/workflow/topologies/${name}.yaml`), 'utf8')),
  );
  return new Map(slips.map((slip) => [slip.topology, slip]));
}
