import type { Grant } from '@flotilla/contracts/grants';
import { findCapability } from './capabilities.ts';
import { classifyCommand } from './command/classify-command.ts';
import { decideInGrant, type CallFacts } from './decide-in-grant.ts';
import { decidePath } from './decide-path.ts';
import { refuse, strictest } from './decisions.ts';
import type { GrantLayers, PolicyContext, PolicyDecision, ToolCall } from './tool-call.ts';

/**
 * May this call run? Grants, mode, paths and command each have their say and the strictest word counts: a part may raise the
 * verdict and none may lower it. What is not listed is refused. `ask` wants a person's yes for this one call and is no permission
 * by itself. Each document of grants is decided on alone, so that one more never permits more. A walk (list, glob, grep) is
 * decided on where it begins; its caller asks again for every path that it found, as a call of that path.
 */
export function decideToolCall(call: ToolCall, context: PolicyContext): PolicyDecision {
  const capability = findCapability(call.capability);
  if (capability === undefined)
    return refuse('UNKNOWN_CAPABILITY', `there is no capability ${JSON.stringify(call.capability)}`);
  const granted = grantsOf(call.capability, context);
  if (granted === undefined) return refuse('NOT_GRANTED', `${call.capability} is not granted`);
  const { mode, network = false, depth = 0 } = context;
  const mutates = call.mutates || capability.mutates;
  const command = call.command === undefined ? {} : { command: classifyCommand(call.command, { network }) };
  const facts: CallFacts = { call, capability, mutates, mode, network, depth, ...command };
  const byShape = call.paths.map((path) => decidePath(path, mutates));
  // Only canonical paths are short enough to be matched.
  const refused = byShape.find(({ verdict }) => verdict === 'refuse');
  return { ...(refused ?? strictest(granted.map((grant) => decideInGrant(facts, grant)))), ...command };
}

type Granted = readonly [Exclude<Grant, false>, ...Exclude<Grant, false>[]];

/** The capability's grant in each document; undefined where one withholds it or there is no document. */
function grantsOf(capability: string, context: Pick<PolicyContext, 'grants'>): Granted | undefined {
  const granted: Exclude<Grant, false>[] = [];
  for (const grants of layersOf(context)) {
    const grant = Object.hasOwn(grants, capability) ? grants[capability] : undefined;
    if (grant === undefined || grant === false) return undefined;
    granted.push(grant);
  }
  const [first, ...rest] = granted;
  return first === undefined ? undefined : [first, ...rest];
}

function layersOf({ grants }: Pick<PolicyContext, 'grants'>): GrantLayers {
  // Array.isArray does not narrow readonly arrays out of a union.
  return Array.isArray(grants) ? (grants as GrantLayers) : [grants as GrantLayers[number]];
}

/**
 * Whether a capability is worth telling a model of: granted by every document at this depth, and not refused whole by the mode.
 * Each call is still decided on.
 */
export function offersCapability(name: string, mutates: boolean, context: PolicyContext): boolean {
  const capability = findCapability(name);
  const granted = capability === undefined ? undefined : grantsOf(name, context);
  if (capability === undefined || granted === undefined) return false;
  const changes = mutates || capability.mutates;
  return granted.every((grant) => {
    const limits = typeof grant === 'object' ? grant : {};
    if (limits.max_depth !== undefined && (context.depth ?? 0) >= limits.max_depth) return false;
    if (context.mode !== 'plan' || !changes) return true;
    return limits.classes?.some((each) => each === 'READ_ONLY' || each === 'TEST') ?? false;
  });
}
