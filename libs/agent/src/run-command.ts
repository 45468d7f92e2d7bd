import { cleanOutput } from './clean-text.ts';
import type { ToolContext, ToolResult } from './define-tool.ts';
import type { CommandLine, CommandResult } from './ports.ts';

const limitBytes = 256 * 1024;

/** Runs a command for a tool within the time that is left. A non-zero exit is data: the result is ok. */
export async function runCommand(
  command: CommandLine,
  timeoutMs: number,
  context: ToolContext,
): Promise<CommandResult> {
  return context.workspace.run(command, {
    timeoutMs: Math.max(1, Math.min(timeoutMs, context.timeLeftMs)),
    limitBytes,
    signal: context.signal,
    onOutput: context.onOutput,
  });
}

/** The end of a command first, since that is what a reader needs, then its output. */
export function describeResult({ exitCode, output, truncated, timedOut, durationMs }: CommandResult): string {
  const end = timedOut
    ? `killed after ${seconds(durationMs)} s: out of time`
    : exitCode === null
      ? 'killed by a signal'
      : `exit code ${exitCode} after ${seconds(durationMs)} s`;
  return `[${end}]${truncated ? ' [output truncated]' : ''}\n${cleanOutput(output).trimEnd()}`;
}

export function toToolResult(result: CommandResult, changedFiles: boolean): ToolResult {
  return {
    ok: true,
    text: describeResult(result),
    changedFiles,
    ...(result.exitCode === null || result.timedOut ? {} : { exitCode: result.exitCode }),
  };
}

function seconds(durationMs: number): string {
  return (durationMs / 1000).toFixed(1);
}
