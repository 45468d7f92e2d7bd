import type { CommandOutput } from '@flotilla/contracts/calls/show-output';
import { ToolFinished, ToolStarted } from '@flotilla/contracts/events/journal-events';
import { CheckRan, SetupFinished } from '@flotilla/contracts/events/step-events';
import { type LogEntry, readEvent } from '@flotilla/contracts/log-entry';

/** Types of entries that tell what a command printed. */
export const outputTypes: readonly string[] = [SetupFinished.type, CheckRan.type, ToolStarted.type, ToolFinished.type];

/** What ran in a slot, in the order it ended. Of tool calls only those with an exit code are commands. */
export function collectOutputs(entries: readonly LogEntry[]): readonly CommandOutput[] {
  const commands = new Map<string, string>();
  return entries.flatMap((entry): readonly CommandOutput[] => {
    const { sequence, stepId, attempt, at } = entry;
    if (stepId === undefined || attempt === undefined) return [];
    const place = { sequence, stepId, attempt, at };
    const keyOf = (callId: string) => `${stepId}/${attempt}/${callId}`;
    const started = readEvent(entry, ToolStarted);
    if (started !== undefined) commands.set(keyOf(started.callId), started.summary);
    const check = readEvent(entry, CheckRan);
    if (check !== undefined) return [{ ...place, kind: 'check', ...check }];
    const setup = readEvent(entry, SetupFinished);
    if (setup !== undefined) return describeSetup(setup, place);
    const finished = readEvent(entry, ToolFinished);
    if (finished?.exitCode === undefined) return [];
    const { callId, tool, exitCode, durationMs, result } = finished;
    const command = commands.get(keyOf(callId)) ?? tool;
    return [{ ...place, kind: 'command', command, exitCode, timedOut: false, durationMs, output: result }];
  });
}

function describeSetup(
  { how, commands, durationMs, output }: (typeof SetupFinished.payload)['_zod']['output'],
  place: Pick<CommandOutput, 'sequence' | 'stepId' | 'attempt' | 'at'>,
): readonly CommandOutput[] {
  if (how !== 'ran') return [];
  return [{ ...place, kind: 'setup', command: commands.join(' && '), timedOut: false, durationMs, output }];
}
