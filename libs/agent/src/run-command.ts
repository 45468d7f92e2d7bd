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
export function describeResult(result: CommandResult): string {
  const mark = result.truncated ? ' [output truncated]' : '';
  return `[${describeEnd(result)}]${mark}\n${cleanOutput(result.output).trimEnd()}`;
}

function describeEnd({ exitCode, timedOut, reason, durationMs }: CommandResult): string {
  const after = `after ${(durationMs / 1000).toFixed(1)} s`;
  if (timedOut) return `killed ${after}: out of time`;
  if (reason !== undefined) return `killed ${after}: ${reason}`;
  return exitCode === null ? `killed by a signal ${after}` : `exit code ${exitCode} ${after}`;
}

export function toToolResult(result: CommandResult, changedFiles: boolean): ToolResult {
  return {
    ok: true,
    text: describeResult(result),
    changedFiles,
    ...(result.exitCode === null || result.timedOut ? {} : { exitCode: result.exitCode }),
  };
}
