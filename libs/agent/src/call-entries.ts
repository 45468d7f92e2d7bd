import { showHidden, truncateText } from './clean-text.ts';
import type { Tool, ToolResult } from './define-tool.ts';
import { interruptedCode, testRunId, type CallFacts } from './journal-facts.ts';
import type { JournalEntry } from './ports.ts';

/** What a call gave back, as the journal keeps it and the model reads it: nothing hidden in it, and no longer than allowed. */
export function describeFinished(
  call: CallFacts,
  result: ToolResult,
  durationMs: number,
  resultCharacters: number,
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

/** Tells, once, of a call that was begun and whose end nobody saw: whatever it did stays done and it is not repeated. */
export function describeInterrupted(call: CallFacts, tools: readonly Tool[]): JournalEntry {
  const tool = tools.find(({ id }) => id === call.tool);
  const changedFiles = tool === undefined || (tool.mutates && tool.id !== testRunId);
  const text =
    'The call was interrupted. It may have done its work, a part of it, or nothing. Look before you repeat it.';
  return describeFinished(call, { ok: false, code: interruptedCode, text, changedFiles }, 0, text.length);
}

/** A call that was never begun and will not be. */
export function describeNotRun(call: CallFacts): JournalEntry {
  const text = 'The call was not run, because the files it was meant for have changed. Decide anew.';
  return describeFinished(call, { ok: false, code: 'NOT_RUN', text }, 0, text.length);
}
