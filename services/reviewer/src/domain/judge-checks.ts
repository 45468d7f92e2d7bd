import type { Evidence, Finding } from '@flotilla/contracts/change';
import type { TreeId } from '@flotilla/contracts/ids';

export interface CheckRun {
  readonly command: string;
  /** -1 where a signal ended it. */
  readonly exitCode: number;
  readonly timedOut: boolean;
  readonly durationMs: number;
  readonly output: string;
}

export type ChecksVerdict =
  | { readonly kind: 'passed'; readonly evidence: Evidence }
  | { readonly kind: 'failed'; readonly failed: CheckRun; readonly finding: Finding };

/** All of `runs` passed on `tree`, or the first that did not. A check that ran out of time failed, whatever its exit code. */
export function judgeChecks(tree: TreeId, image: string, runs: readonly CheckRun[]): ChecksVerdict {
  const failed = runs.find((run) => !passed(run));
  if (failed !== undefined) return { kind: 'failed', failed, finding: describeFailure(failed) };
  return { kind: 'passed', evidence: { tree, image, checks: runs.map(({ command }) => command) } };
}

export function passed({ exitCode, timedOut }: CheckRun): boolean {
  return exitCode === 0 && !timedOut;
}

const findingLimit = 4_000;

/** The end of the output is where a test runner says what failed. */
function describeFailure({ command, exitCode, timedOut, output }: CheckRun): Finding {
  const end = timedOut ? 'ran out of time' : `failed with exit code ${exitCode}`;
  const head = `The check \`${cut(command, 500)}\` ${end}. The end of its output:\n`;
  const room = findingLimit - head.length;
  const tail = output.trimEnd();
  const shown = tail.length <= room ? tail : `…${tail.slice(1 - room)}`;
  return { severity: 'critical', text: (head + shown).toWellFormed() };
}

function cut(text: string, limit: number): string {
  return text.length <= limit ? text : `${text.slice(0, limit - 1)}…`;
}
