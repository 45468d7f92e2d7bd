import type { Grants, Mode } from '@flotilla/contracts/grants';
import { decideToolCall } from '@flotilla/policy/decide-tool-call';
import { showHidden, truncateText } from './clean-text.ts';
import type { PreparedCall, Tool, ToolContext, ToolResult } from './define-tool.ts';
import { signatureOf } from './describe-tool.ts';
import { testRunId, type CallFacts } from './journal-facts.ts';
import type { AgentPorts, JournalEntry } from './ports.ts';
import { describeToolCall } from './span-attributes.ts';
import { changelessCodes, toToolFailure } from './tool-failure.ts';
import { finishId } from './tools/finish.ts';

/** What a call is judged and run with. */
export interface CallScene {
  readonly ports: AgentPorts;
  /** All tools of the role. */
  readonly tools: readonly Tool[];
  /** Those it was offered. */
  readonly offered: readonly Tool[];
  /** Every one must permit. */
  readonly layers: readonly Grants[];
  readonly mode: Mode;
  readonly checks: readonly string[];
  readonly timeLeftMs: number;
  readonly resultCharacters: number;
  /** Ends a running call. */
  readonly signal: AbortSignal;
  readonly append: (entries: readonly JournalEntry[]) => Promise<void>;
  /** Why the work may not be handed in yet, with what to write of it; undefined where it may. */
  readonly refuseFinish: () => Promise<{ readonly result: ToolResult; readonly entry: JournalEntry } | undefined>;
}

/**
 * The one door before every call: name, arguments, paths, policy; then the verdict is durable, then the tool runs, then
 * its result is durable. What is not allowed is a result that says why, and nothing runs.
 */
export async function runCall(call: CallFacts, scene: CallScene): Promise<void> {
  const judged = await judgeCall(call, scene);
  const decided: JournalEntry = {
    type: 'tool.decided',
    payload: {
      callId: call.callId,
      tool: call.tool,
      verdict: judged.verdict,
      code: judged.code,
      reason: judged.reason,
    },
  };
  if (judged.kind === 'refused') return scene.append([decided, finishedEntry(call, judged.result, 0, scene)]);
  const started: JournalEntry = {
    type: 'tool.started',
    payload: { callId: call.callId, tool: call.tool, summary: showHidden(judged.prepared.description) },
  };
  await scene.append(call.decided ? [started] : [decided, started]);
  const startedAtMs = scene.ports.clock.now();
  const refusal = call.tool === finishId ? await scene.refuseFinish() : undefined;
  const result = refusal?.result ?? (await runTool(call, judged, scene));
  const durationMs = Math.max(0, Math.round(scene.ports.clock.now() - startedAtMs));
  await scene.append([
    finishedEntry(call, result, durationMs, scene),
    ...(refusal === undefined ? [] : [refusal.entry]),
    ...(result.todo === undefined ? [] : [{ type: 'agent.todo' as const, payload: { items: [...result.todo] } }]),
  ]);
}

/** Tells, once, of a call that was begun and whose end nobody saw: whatever it did stays done and it is not repeated. */
export function describeInterrupted(call: CallFacts, tools: readonly Tool[], resultCharacters: number): JournalEntry {
  const tool = tools.find(({ id }) => id === call.tool);
  const changedFiles = tool === undefined || (tool.mutates && tool.id !== testRunId);
  const text =
    'The call was interrupted. It may have done its work, a part of it, or nothing. Look before you repeat it.';
  return finishedEntry(call, { ok: false, code: 'INTERRUPTED', text, changedFiles }, 0, { resultCharacters });
}

/** A call that was never begun and will not be. */
export function describeNotRun(call: CallFacts): JournalEntry {
  const text = 'The call was not run, because the files it was meant for have changed. Decide anew.';
  return finishedEntry(call, { ok: false, code: 'NOT_RUN', text }, 0, { resultCharacters: text.length });
}

type Judged =
  | {
      readonly kind: 'refused';
      readonly verdict: 'ask' | 'refuse';
      readonly code: string;
      readonly reason: string;
      readonly result: ToolResult;
    }
  | Permitted;
interface Permitted {
  readonly kind: 'permitted';
  readonly verdict: 'allow';
  readonly code: string;
  readonly reason: string;
  readonly tool: Tool;
  readonly prepared: PreparedCall;
  readonly paths: readonly string[];
}

async function judgeCall(call: CallFacts, { tools, offered, layers, mode, ports }: CallScene): Promise<Judged> {
  const ids = offered.map(({ id }) => id).join(', ');
  const tool = tools.find(({ id }) => id === call.tool);
  if (tool === undefined)
    return refused('UNKNOWN_TOOL', 'there is no such tool', `There is no tool of this name. Your tools: ${ids}.`);
  const prepared =
    call.malformed === undefined ? tool.prepare(call.arguments) : { kind: 'invalid' as const, problem: call.malformed };
  // A tool that was never granted is refused for that, whatever its arguments.
  if (prepared.kind === 'invalid' && offered.includes(tool))
    return refused(
      'INVALID_ARGUMENTS',
      prepared.problem,
      `The arguments cannot be used: ${prepared.problem}. Signature: ${signatureOf(tool)}.`,
    );
  const resolved =
    prepared.kind === 'ready' ? await resolvePaths(prepared.call.paths, ports) : { kind: 'paths' as const, paths: [] };
  if (resolved.kind === 'failed')
    return {
      ...refused(resolved.result.code ?? 'PATH_REFUSED', 'a path cannot be reached', ''),
      result: resolved.result,
    };
  const { paths } = resolved;
  const command = prepared.kind === 'ready' ? prepared.call.command : undefined;
  const decision =
    tool.id === finishId
      ? { verdict: 'allow' as const, code: 'GRANTED', reason: 'every role may hand in its work' }
      : decideToolCall(
          {
            tool: tool.id,
            capability: tool.capability,
            mutates: tool.mutates,
            paths,
            ...(command === undefined ? {} : { command }),
          },
          { grants: layers, mode },
        );
  if (decision.verdict === 'allow' && prepared.kind === 'ready')
    return {
      kind: 'permitted',
      verdict: 'allow',
      code: decision.code,
      reason: decision.reason,
      tool,
      prepared: prepared.call,
      paths,
    };
  const verdict = decision.verdict === 'ask' ? 'ask' : 'refuse';
  const text =
    verdict === 'ask'
      ? `Refused: ${decision.reason}, and nobody can be asked during this step. Do without it.`
      : `Refused: ${decision.reason}. Repeating the call will not change that. Your tools: ${ids}.`;
  return { ...refused(decision.code, decision.reason, text), verdict };
}

function refused(code: string, reason: string, text: string) {
  return {
    kind: 'refused' as const,
    verdict: 'refuse' as const,
    code,
    reason: showHidden(reason).slice(0, 500),
    result: { ok: false, code, text },
  };
}

async function resolvePaths(paths: readonly string[], { workspace }: AgentPorts) {
  try {
    const resolved: string[] = [];
    for (const path of paths) resolved.push(await workspace.resolve(path));
    return { kind: 'paths' as const, paths: resolved };
  } catch (error) {
    const result = toToolFailure(error);
    if (result === undefined) throw error;
    return { kind: 'failed' as const, result };
  }
}

async function runTool(call: CallFacts, { tool, prepared, paths }: Permitted, scene: CallScene): Promise<ToolResult> {
  const { ports, layers, mode, checks, timeLeftMs, signal } = scene;
  const context: ToolContext = {
    workspace: ports.workspace,
    paths,
    allowsPath: (path) =>
      decideToolCall(
        { tool: tool.id, capability: tool.capability, mutates: tool.mutates, paths: [path] },
        { grants: layers, mode },
      ).verdict === 'allow',
    checks,
    timeLeftMs,
    signal,
    onOutput: (chunk) => ports.live?.output(call.callId, chunk),
  };
  const run = async (set: (attributes: Readonly<Record<string, string>>) => void) => {
    const result = await runOrFail(tool, prepared, context);
    if (!result.ok) set({ 'error.type': result.code ?? 'FAILED' });
    return result;
  };
  if (ports.trace === undefined) return run(() => undefined);
  return ports.trace.span(`execute_tool ${tool.id}`, describeToolCall(tool.id, call.callId), run);
}

async function runOrFail(tool: Tool, prepared: PreparedCall, context: ToolContext): Promise<ToolResult> {
  try {
    return await prepared.run(context);
  } catch (error) {
    const failure = toToolFailure(error);
    if (failure === undefined) throw error;
    const changedFiles = tool.mutates && tool.id !== testRunId && !changelessCodes.includes(failure.code);
    return { ...failure, changedFiles };
  }
}

function finishedEntry(
  call: CallFacts,
  result: ToolResult,
  durationMs: number,
  { resultCharacters }: Pick<CallScene, 'resultCharacters'>,
): JournalEntry {
  return {
    type: 'tool.finished',
    payload: {
      callId: call.callId,
      tool: call.tool,
      ok: result.ok,
      ...(result.code === undefined ? {} : { code: result.code }),
      result: truncateText(showHidden(result.text), resultCharacters),
      ...(result.exitCode === undefined ? {} : { exitCode: result.exitCode }),
      changedFiles: result.changedFiles ?? false,
      durationMs,
    },
  };
}
