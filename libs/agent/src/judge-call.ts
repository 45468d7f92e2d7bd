import type { Grants, Mode } from '@flotilla/contracts/grants';
import { decideToolCall } from '@flotilla/policy/decide-tool-call';
import type { PolicyDecision, ToolCall } from '@flotilla/policy/tool-call';
import { showHidden } from './clean-text.ts';
import type { PreparedCall, Tool, ToolResult } from './define-tool.ts';
import { signatureOf } from './describe-tool.ts';
import type { CallFacts } from './journal-facts.ts';
import type { WorkspacePort } from './ports.ts';
import { toToolFailure } from './tool-failure.ts';
import { toModelName } from './tool-names.ts';
import { finishId } from './tools/finish.ts';

/** What a call is judged by. */
export interface Judges {
  /** All tools of the role. */
  readonly tools: readonly Tool[];
  /** Those it was offered. */
  readonly offered: readonly Tool[];
  /** Every one must permit. */
  readonly layers: readonly Grants[];
  readonly mode: Mode;
  readonly workspace: Pick<WorkspacePort, 'resolve'>;
}

export type Judged = PermittedCall | RefusedCall;

export interface PermittedCall {
  readonly kind: 'permitted';
  readonly verdict: 'allow';
  readonly code: string;
  readonly reason: string;
  readonly tool: Tool;
  readonly prepared: PreparedCall;
  readonly paths: readonly string[];
}

export interface RefusedCall {
  readonly kind: 'refused';
  readonly verdict: 'ask' | 'refuse';
  readonly code: string;
  readonly reason: string;
  /** What the model is told. */
  readonly result: ToolResult;
}

/** Name, arguments, paths, policy, in this order; the first that does not hold refuses. */
export async function judgeCall(call: CallFacts, judges: Judges): Promise<Judged> {
  const yours = `Your tools: ${judges.offered.map(({ id }) => toModelName(id)).join(', ')}.`;
  const tool = judges.tools.find(({ id }) => id === call.tool);
  if (tool === undefined)
    return refuse('UNKNOWN_TOOL', 'there is no such tool', `There is no tool of this name. ${yours}`);
  // A tool that is not granted is refused for that, whatever its arguments.
  if (!judges.offered.includes(tool)) return refuseByPolicy(tool, decide(tool, [], undefined, judges), yours);
  const prepared =
    call.malformed === undefined ? tool.prepare(call.arguments) : { kind: 'invalid' as const, problem: call.malformed };
  if (prepared.kind === 'invalid')
    return refuse(
      'INVALID_ARGUMENTS',
      prepared.problem,
      `The arguments cannot be used: ${prepared.problem}. Signature: ${signatureOf(tool)}.`,
    );
  const resolved = await resolvePaths(prepared.call.paths, judges.workspace);
  if (resolved.kind === 'failed') return refuse(resolved.code, 'a path cannot be reached', resolved.text);
  const decision = decide(tool, resolved.paths, prepared.call.command, judges);
  if (decision.verdict !== 'allow') return refuseByPolicy(tool, decision, yours);
  return {
    kind: 'permitted',
    verdict: 'allow',
    code: decision.code,
    reason: decision.reason,
    tool,
    prepared: prepared.call,
    paths: resolved.paths,
  };
}

/** Whether a permitted tool may also reach a path that it found. */
export function allowsPath(tool: Tool, path: string, judges: Pick<Judges, 'layers' | 'mode'>): boolean {
  return decide(tool, [path], undefined, judges).verdict === 'allow';
}

function decide(
  { id, capability, mutates }: Tool,
  paths: readonly string[],
  command: string | undefined,
  { layers, mode }: Pick<Judges, 'layers' | 'mode'>,
): PolicyDecision {
  if (id === finishId) return { verdict: 'allow', code: 'GRANTED', reason: 'every role may hand in its work' };
  const call: ToolCall = { tool: id, capability, mutates, paths, ...(command === undefined ? {} : { command }) };
  return decideToolCall(call, { grants: layers, mode });
}

function refuseByPolicy({ id }: Tool, { verdict, code, reason }: PolicyDecision, yours: string): RefusedCall {
  const said = reason.replaceAll(id, toModelName(id));
  if (verdict === 'ask')
    return {
      ...refuse(code, reason, `Refused: ${said}, and nobody can be asked during this step. Do without it.`),
      verdict,
    };
  return refuse(code, reason, `Refused: ${said}. Repeating the call will not change that. ${yours}`);
}

function refuse(code: string, reason: string, text: string): RefusedCall {
  return {
    kind: 'refused',
    verdict: 'refuse',
    code,
    reason: showHidden(reason).slice(0, 500),
    result: { ok: false, code, text },
  };
}

type ResolvedPaths =
  | { readonly kind: 'resolved'; readonly paths: readonly string[] }
  | { readonly kind: 'failed'; readonly code: string; readonly text: string };

async function resolvePaths(paths: readonly string[], workspace: Judges['workspace']): Promise<ResolvedPaths> {
  try {
    const resolved: string[] = [];
    for (const path of paths) resolved.push(await workspace.resolve(path));
    return { kind: 'resolved', paths: resolved };
  } catch (error) {
    const failure = toToolFailure(error);
    if (failure === undefined) throw error;
    return { kind: 'failed', code: failure.code ?? 'PATH_REFUSED', text: failure.text };
  }
}
