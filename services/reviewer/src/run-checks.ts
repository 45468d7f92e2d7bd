import type { NewLogEntry } from '@flotilla/contracts/log-entry';
import type { StepContext } from '@flotilla/host/step-work';
import type { Workplace } from '@flotilla/workplace/workplaces';
import { passed, type CheckRun } from './domain/judge-checks.ts';

/** Limits of one check. */
export interface CheckLimits {
  /** Default: 15 minutes. */
  readonly timeoutMs?: number;
}

const defaultTimeoutMs = 15 * 60_000;
const keptOutputBytes = 64 * 1024;

/**
 * Runs the commands in their order in the slot; the first that does not pass is the last. Each but the last is logged when it ended: the
 * last is the caller's, to be logged with what follows from all of them.
 */
export async function runChecks(
  place: Pick<Workplace, 'slot' | 'commandPath'>,
  commands: readonly string[],
  context: StepContext,
  limits: CheckLimits = {},
): Promise<readonly CheckRun[]> {
  const runs: CheckRun[] = [];
  for (const command of commands) {
    const run = await context.span('check.run', { 'flotilla.check': command.slice(0, 200) }, () =>
      runCheck(place, command, context.signal, limits.timeoutMs ?? defaultTimeoutMs),
    );
    runs.push(run);
    if (!passed(run) || runs.length === commands.length) break;
    await context.log(describeRun(run));
  }
  return runs;
}

export function describeRun(run: CheckRun): NewLogEntry {
  return { type: 'check.ran', payload: { ...run } };
}

async function runCheck(
  { slot, commandPath }: Pick<Workplace, 'slot' | 'commandPath'>,
  command: string,
  signal: AbortSignal,
  timeoutMs: number,
): Promise<CheckRun> {
  const result = await slot.run(
    { shell: command },
    { timeoutMs, limitBytes: keptOutputBytes, signal, path: commandPath, environment: { CI: 'true' } },
  );
  if (result.killedBy === 'abort') signal.throwIfAborted();
  const why = result.reason === undefined ? '' : `\n[stopped: ${result.reason}]\n`;
  return {
    command,
    exitCode: result.killedBy === undefined ? result.exitCode : killedExitCode(result.exitCode),
    timedOut: result.timedOut,
    durationMs: Math.round(result.durationMs),
    output: result.output + why,
  };
}

/** A check that had to be stopped has not passed, whatever it managed to answer. */
function killedExitCode(exitCode: number): number {
  return exitCode === 0 ? 137 : exitCode;
}
