import { isDeepStrictEqual } from 'node:util';
import { type DeathPoint, MortalProcess } from './mortal-process.ts';

export interface EveryPoint<State> {
  /** Of the handler. */
  readonly name: string;
  /**
   * From the beginning to the end: the process does its work or dies of it, others go on where it did. Answers what there is then, without
   * ids and times.
   */
  readonly live: (process: MortalProcess) => Promise<State>;
  /** Default: both. Of calls that follow each other, dying after one is dying before the next. */
  readonly when?: readonly DeathPoint['when'][];
  /** Calls at which it dies. Default: all. */
  readonly at?: (call: string) => boolean;
}

/**
 * Lets a process die at each of its calls in turn and holds what there is in the end against a life without a death. Answers at how many
 * points it died; throws with every point that ended otherwise.
 */
export async function tryEveryPoint<State>(every: EveryPoint<State>): Promise<number> {
  const calm = new MortalProcess();
  const wanted = await every.live(calm);
  const broken: string[] = [];
  let points = 0;
  for (const when of every.when ?? (['before', 'after'] as const)) {
    for (let call = 1; ; call += 1) {
      const label = calm.calls[call - 1];
      if (label !== undefined && every.at?.(label) === false) continue;
      const process = new MortalProcess({ call, when });
      const state = await every.live(process).catch((error: unknown) => ({ thrown: String(error) }));
      if (!process.dead) break;
      points += 1;
      if (isDeepStrictEqual(state, wanted)) continue;
      broken.push(`dead ${when} ${call}. ${process.calls.at(-1)}:\n${describeDifference(wanted, state)}`);
    }
  }
  console.log(`${every.name}: ${calm.calls.length} calls, ${points} crash points`);
  if (broken.length === 0) return points;
  throw new Error(
    `${every.name} ends otherwise at ${broken.length} of ${points} points\n${broken.join('\n')}\nits calls: ${calm.calls.join(', ')}`,
  );
}

/**
 * Dying after a call that only reads, or inside of a transaction, is dying before it; that a delivery begins and is settled is the same for
 * all steps. For handlers whose lives are slow, with `when` after.
 */
export function leavesTrace(call: string): boolean {
  return !/hasEntry|readLog|openCommits|whileQuiet|beginDelivery|settleDelivery|^bundles\.(has|get|find)|^store\.transaction($|\.)/.test(
    call,
  );
}

/** Lines of one and not of the other. */
function describeDifference(wanted: unknown, found: unknown): string {
  const [left, right] = [wanted, found].map((each) => JSON.stringify(each, undefined, 1).split('\n'));
  const missing = without(left ?? [], right ?? []).map((line) => `  - ${line.trim()}`);
  const added = without(right ?? [], left ?? []).map((line) => `  + ${line.trim()}`);
  const lines = [...missing, ...added];
  return lines.length === 0 ? '  the same lines in another order' : lines.slice(0, 40).join('\n');
}

function without(lines: readonly string[], others: readonly string[]): readonly string[] {
  const left = [...others];
  return lines.filter((line) => {
    const place = left.indexOf(line);
    if (place >= 0) left.splice(place, 1);
    return place < 0;
  });
}
