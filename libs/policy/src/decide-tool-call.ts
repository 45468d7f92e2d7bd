import type { Grant, Grants } from '@flotilla/contracts/grants';
import { findCapability, type Capability } from './capabilities.ts';
import { hasInvisibleCharacters, reachesGitDirectory, whyNotCanonical } from './check-path.ts';
import { compilePathPattern } from './path-pattern.ts';
import { verdicts, type GrantLayers, type PolicyContext, type PolicyDecision, type ToolCall } from './tool-call.ts';

/**
 * May this call run? Every part may raise the verdict and none may lower it; what is not listed is refused.
 * `ask` wants a person's yes for this one call and is no permission by itself. `normal` and `auto` decide alike: the
 * container is the wall around a call, and a person stands before whatever lands. A walk (list, glob, grep) is decided on
 * where it begins; its caller asks again for every path that it found, as a call of that path.
 */
export function decideToolCall(call: ToolCall, context: PolicyContext): PolicyDecision {
  const capability = findCapability(call.capability);
  if (capability === undefined)
    return refuse('UNKNOWN_CAPABILITY', `there is no capability ${JSON.stringify(call.capability)}`);
  const mutates = call.mutates || capability.mutates;
  const layers = layersOf(context);
  if (layers.length === 0) return refuse('NOT_GRANTED', `${call.capability} is not granted`);
  const decision = strictest([
    decideByMode(call, mutates, context),
    ...call.paths.map((path) => decideByShape(path, mutates)),
  ]);
  // Only canonical paths are short enough to be matched.
  if (decision.verdict === 'refuse') return decision;
  return strictest([decision, ...layers.map((grants) => decideByGrant(call, capability, grants))]);
}

/** The first of the strictest decisions. */
function strictest(decisions: readonly [PolicyDecision, ...PolicyDecision[]]): PolicyDecision {
  return decisions.reduce((held, next) =>
    verdicts.indexOf(next.verdict) > verdicts.indexOf(held.verdict) ? next : held,
  );
}

function layersOf({ grants }: PolicyContext): GrantLayers {
  // Array.isArray does not narrow readonly arrays out of a union.
  return Array.isArray(grants) ? (grants as GrantLayers) : [grants as GrantLayers[number]];
}

function decideByMode(call: ToolCall, mutates: boolean, { mode }: PolicyContext): PolicyDecision {
  if (mutates && mode === 'plan')
    return refuse('MODE_READS_ONLY', `${call.tool} changes files and this run only reads`);
  return allow(call);
}

function decideByShape(path: string, mutates: boolean): PolicyDecision {
  const shown = JSON.stringify(path);
  const reason = whyNotCanonical(path);
  if (reason !== undefined) return refuse('PATH_NOT_CANONICAL', `${shown} cannot be used: ${reason}`);
  if (mutates && hasInvisibleCharacters(path))
    return refuse('PATH_INVISIBLE_CHARACTERS', `${shown} has characters that are not seen`);
  if (mutates && path === '.')
    return refuse('PATH_PROTECTED', 'the workspace itself is not changed, only what is in it');
  if (mutates && reachesGitDirectory(path)) return refuse('PATH_PROTECTED', `${shown} belongs to git`);
  return { verdict: 'allow', code: 'GRANTED', reason: `${shown} is a path of the workspace` };
}

function decideByGrant(call: ToolCall, capability: Capability, grants: Grants): PolicyDecision {
  const grant = Object.hasOwn(grants, call.capability) ? grants[call.capability] : undefined;
  if (grant === undefined || grant === false) return refuse('NOT_GRANTED', `${call.capability} is not granted`);
  if (grant === true) return allow(call);
  if (grant === 'ask')
    return { verdict: 'ask', code: 'ASK_FIRST', reason: `${call.capability} wants a person's yes for each call` };
  if (grant.paths === undefined && grant.exclude === undefined) return allow(call);
  if (call.paths.length === 0 || capability.names === 'none') {
    return refuse('LIMIT_NOT_EVALUABLE', `${call.capability} is limited to paths and the call names none`);
  }
  return strictest([allow(call), ...call.paths.map((path) => decideByLimits(call, capability, grant, path))]);
}

/** A name that no pattern can spell: only wildcards match it. A walk may begin at `src` where it may reach `src/<any>`. */
const ANY_NAME = '\u0001';

type PathLimits = Exclude<Grant, boolean | 'ask'>;

function decideByLimits(
  call: ToolCall,
  capability: Capability,
  { paths, exclude }: PathLimits,
  path: string,
): PolicyDecision {
  const shown = JSON.stringify(path);
  const included = paths?.map(compilePathPattern);
  const excluded = exclude?.map(compilePathPattern) ?? [];
  if ([...(included ?? []), ...excluded].some(({ kind }) => kind === 'invalid')) {
    return refuse('LIMIT_NOT_EVALUABLE', `the path limits of ${call.capability} cannot be read`);
  }
  const reached = capability.names === 'directory' ? [path, `${path}/${ANY_NAME}`] : [path];
  if (excluded.some((pattern) => pattern.kind === 'pattern' && reached.some(pattern.covers))) {
    return refuse('PATH_EXCLUDED', `${shown} is excluded from ${call.capability}`);
  }
  if (included?.some((pattern) => pattern.kind === 'pattern' && reached.some(pattern.matches)) === false) {
    return refuse('PATH_OUTSIDE_GRANT', `${shown} is outside the paths of ${call.capability}`);
  }
  return allow(call);
}

function allow(call: ToolCall): PolicyDecision {
  return { verdict: 'allow', code: 'GRANTED', reason: `${call.capability} is granted` };
}

function refuse(code: PolicyDecision['code'], reason: string): PolicyDecision {
  return { verdict: 'refuse', code, reason };
}
