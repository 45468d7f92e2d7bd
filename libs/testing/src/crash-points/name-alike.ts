const unlike: readonly (readonly [kind: string, pattern: RegExp])[] = [
  ['run', /run_[0-9a-z]{26}/g],
  ['gate', /gate_[0-9a-z]{26}/g],
  /** Of messages that have no id of their own. */
  ['place', /TASKS\/\d+\/\d+/g],
  ['letter', /replay\/\d+\//g],
  ['time', /\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d(?::?\d\d)?)/g],
];
/** Fields that tell how long something took, who did it, and whether it was done or found done. */
const unsteady = /^(durationMs|seconds|instance|delivery|how|reused|traceparent|tracestate)$/;

/** The value with ids named by the order in which they come, and without times. */
export function nameAlike<Value>(value: Value): Value {
  const names = new Map<string, string>();
  const nameOf = (kind: string, text: string): string => {
    if (kind === 'time') return 'a time';
    const known =
      names.get(text) ?? `${kind} ${[...names.values()].filter((name) => name.startsWith(kind)).length + 1}`;
    names.set(text, known);
    return known;
  };
  const rename = (text: string): string =>
    unlike.reduce((told, [kind, pattern]) => told.replace(pattern, (found) => nameOf(kind, found)), text);
  const walk = (each: unknown): unknown => {
    if (typeof each === 'string') return rename(each);
    if (Array.isArray(each)) return each.map(walk);
    if (typeof each !== 'object' || each === null) return each;
    const fields = Object.entries(each).map(([key, inner]) => [key, unsteady.test(key) ? 'unsteady' : walk(inner)]);
    return Object.fromEntries(fields);
  };
  return walk(value) as Value; // the same shape with other texts
}
