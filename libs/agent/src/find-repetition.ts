import { interruptedCode, restoredCode, type CallFacts, type JournalFacts } from './journal-facts.ts';

/**
 * How often the call that was made last was made since anything else may have changed: another call's files, or the whole
 * workspace when it was laid anew. A call that was interrupted has no answer, so to make it again is no repetition. 0 for no call.
 */
export function countRepetitions({ turns }: JournalFacts): number {
  const restored = turns.findLastIndex(({ nudges }) => nudges.some(({ code }) => code === restoredCode));
  const calls = turns
    .slice(restored + 1)
    .flatMap((turn) => turn.calls)
    .filter(({ finished }) => finished !== undefined && finished.code !== interruptedCode);
  const last = calls.at(-1);
  if (last === undefined) return 0;
  const signature = signatureOf(last);
  let count = 0;
  for (const call of calls.toReversed()) {
    if (signatureOf(call) === signature) count += 1;
    else if (call.finished?.changedFiles === true) break;
  }
  return count;
}

function signatureOf({ tool, arguments: given }: CallFacts): string {
  return `${tool} ${canonical(given)}`;
}

/** JSON with sorted keys: the order in which a model writes arguments does not matter. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const entries = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`).join(',')}}`;
}
