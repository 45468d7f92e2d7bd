import type { Grants } from '@flotilla/contracts/grants';
import { capabilities, findCapability } from './capabilities.ts';
import { compilePathPattern } from './path-pattern.ts';

export interface GrantProblem {
  /** Where in the document, for example `fs.write.paths.0`. */
  readonly path: string;
  readonly reason: string;
}

/** What a document of grants says that could not be decided on; empty when all is well. */
export function checkGrants(grants: Grants): readonly GrantProblem[] {
  return Object.entries(grants).flatMap(([id, grant]) => {
    const capability = findCapability(id);
    if (capability === undefined) {
      return [{ path: id, reason: `there is no such capability; there are ${Object.keys(capabilities).join(', ')}` }];
    }
    if (typeof grant !== 'object') return [];
    if (capability.names === 'none') return [{ path: id, reason: 'it names no paths, so they cannot be limited' }];
    return [...checkPatterns(`${id}.paths`, grant.paths), ...checkPatterns(`${id}.exclude`, grant.exclude)];
  });
}

function checkPatterns(path: string, patterns: readonly string[] | undefined): readonly GrantProblem[] {
  return (patterns ?? []).flatMap((pattern, index) => {
    const compiled = compilePathPattern(pattern);
    return compiled.kind === 'invalid' ? [{ path: `${path}.${index}`, reason: compiled.reason }] : [];
  });
}
