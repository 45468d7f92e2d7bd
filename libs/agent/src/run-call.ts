import { describeFinished } from './call-entries.ts';
import { showHidden } from './clean-text.ts';
import type { ToolContext, ToolResult } from './define-tool.ts';
import { testRunId, type CallFacts } from './journal-facts.ts';
import { allowsPath, judgeCall, type Judged, type Judges, type PermittedCall } from './judge-call.ts';
import type { AgentPorts, JournalEntry } from './ports.ts';
import type { FinishRefusal } from './refuse-finish.ts';
import { describeToolCall } from './span-attributes.ts';
import { changelessCodes, toToolFailure } from './tool-failure.ts';
import { finishId } from './tools/finish.ts';

/** What a call is judged and run with. */
export interface CallScene extends Omit<Judges, 'workspace'> {
  readonly ports: AgentPorts;
  readonly checks: readonly string[];
  readonly timeLeftMs: number;
  readonly resultCharacters: number;
  /** Ends a running call. */
  readonly signal: AbortSignal;
  readonly append: (entries: readonly JournalEntry[]) => Promise<void>;
  /** Why the work may not be handed in yet, with what to write of it; undefined where it may. */
  readonly refuseFinish: () => Promise<FinishRefusal | undefined>;
}

/**
 * The one door before every call: it is judged; then the verdict is durable, then the tool runs, then its result is
 * durable. What is not allowed is a result that says why, and nothing runs.
 */
export async function runCall(call: CallFacts, scene: CallScene): Promise<void> {
  const { ports, append, resultCharacters } = scene;
  const judged = await judgeCall(call, { ...scene, workspace: ports.workspace });
  const decided = describeDecided(call, judged);
  if (judged.kind === 'refused') return append([decided, describeFinished(call, judged.result, 0, resultCharacters)]);
  await append(call.decided ? [describeStarted(call, judged)] : [decided, describeStarted(call, judged)]);
  const startedAtMs = ports.clock.now();
  const refusal = call.tool === finishId ? await scene.refuseFinish() : undefined;
  const result = refusal?.result ?? (await traceTool(call, judged, scene));
  const durationMs = Math.max(0, Math.round(ports.clock.now() - startedAtMs));
  await append([
    describeFinished(call, result, durationMs, resultCharacters),
    ...(refusal?.entry === undefined ? [] : [refusal.entry]),
    ...(result.todo === undefined ? [] : [{ type: 'agent.todo' as const, payload: { items: [...result.todo] } }]),
  ]);
}

function describeDecided({ callId, tool }: CallFacts, { verdict, code, reason }: Judged): JournalEntry {
  return { type: 'tool.decided', payload: { callId, tool, verdict, code, reason } };
}

function describeStarted({ callId, tool }: CallFacts, { prepared }: PermittedCall): JournalEntry {
  return { type: 'tool.started', payload: { callId, tool, summary: showHidden(prepared.description) } };
}

async function traceTool(call: CallFacts, permitted: PermittedCall, scene: CallScene): Promise<ToolResult> {
  const { trace } = scene.ports;
  const run = async (set: (attributes: Readonly<Record<string, string>>) => void) => {
    const result = await runTool(call, permitted, scene);
    if (!result.ok) set({ 'error.type': result.code ?? 'FAILED' });
    return result;
  };
  if (trace === undefined) return run(() => undefined);
  return trace.span(`execute_tool ${call.tool}`, describeToolCall(call.tool, call.callId), run);
}

async function runTool(
  call: CallFacts,
  { tool, prepared, paths }: PermittedCall,
  scene: CallScene,
): Promise<ToolResult> {
  const { ports, checks, timeLeftMs, signal } = scene;
  const context: ToolContext = {
    workspace: ports.workspace,
    paths,
    allowsPath: (path) => allowsPath(tool, path, scene),
    checks,
    timeLeftMs,
    signal,
    onOutput: (chunk) => ports.live?.output(call.callId, chunk),
  };
  try {
    return await prepared.run(context);
  } catch (error) {
    const failure = toToolFailure(error);
    if (failure === undefined) throw error;
    const changedFiles = tool.mutates && tool.id !== testRunId && !changelessCodes.includes(failure.code);
    return { ...failure, changedFiles };
  }
}
