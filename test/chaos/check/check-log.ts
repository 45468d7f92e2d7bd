import type { LogFact, RunFact, Violation } from './campaign-facts.ts';

/** A run's log has no gap and no contradiction, and shows no side effect twice. */
export function checkLog({ runId, state }: RunFact, log: readonly LogFact[]): readonly Violation[] {
  const violation = (rule: string, found: string): Violation => ({ rule, about: runId, found });
  return [
    ...findGaps(log).map((found) => violation('a log has no gap', found)),
    ...repeats(
      log,
      (entry) => entry.type === 'task.accepted' || entry.type === 'run.ended',
      ({ type }) => type,
    ).map((found) => violation('a run begins and ends once', found)),
    ...(log[0] === undefined || log[0].type === 'task.accepted'
      ? []
      : [violation('a log begins with its task', `it begins with ${log[0].type}`)]),
    ...afterTheEnd(log, state).map((found) => violation('nothing follows the end', found)),
    ...repeats(log, ({ type }) => type === 'step.requested' || type === 'step.completed', attemptOf).map((found) =>
      violation('an attempt is asked for once and answered once', found),
    ),
    ...findUnasked(log).map((found) => violation('an attempt is asked for before it works and answered after', found)),
    ...repeats(log, ({ type }) => type === 'tool.started' || type === 'tool.finished', callOf).map((found) =>
      violation('no tool call is carried out twice', found),
    ),
    ...repeats(log, ({ type }) => type === 'agent.turn', callOf).map((found) =>
      violation('no turn of a model is taken twice', found),
    ),
    ...repeats(log, ({ type }) => type === 'gate.opened' || type === 'gate.decided', gateOf).map((found) =>
      violation('a gate opens once and is decided once', found),
    ),
    ...repeats(log, ({ type }) => type === 'change.landed', attemptOf).map((found) =>
      violation('a landing is told once', found),
    ),
  ];
}

function findGaps(log: readonly LogFact[]): readonly string[] {
  return log.flatMap(({ sequence }, index) =>
    sequence === index + 1 ? [] : [`entry ${index + 1} has the sequence ${sequence}`],
  );
}

function afterTheEnd(log: readonly LogFact[], state: string): readonly string[] {
  const end = log.findIndex(({ type }) => type === 'run.ended');
  if (end === -1) return state === 'ended' ? ['it has no end'] : [];
  return log.slice(end + 1).map(({ type, sequence }) => `${type} at ${sequence}`);
}

/** Entries of an attempt before it was requested or after it was completed. */
function findUnasked(log: readonly LogFact[]): readonly string[] {
  const requested = new Set<string>();
  const completed = new Set<string>();
  return log.flatMap((entry) => {
    if (entry.stepId === null || entry.attempt === null || isOfGate(entry)) return [];
    const attempt = attemptOf(entry);
    const key = `${entry.stepId}/${entry.attempt}`;
    if (entry.type === 'step.requested') {
      requested.add(key);
      return [];
    }
    const found = !requested.has(key)
      ? [`${attempt} at ${entry.sequence}, not asked for`]
      : completed.has(key)
        ? [`${attempt} at ${entry.sequence}, after the answer`]
        : [];
    if (entry.type === 'step.completed') completed.add(key);
    return found;
  });
}

function isOfGate({ type }: LogFact): boolean {
  return type.startsWith('gate.') || type.startsWith('turn.');
}

function repeats(
  log: readonly LogFact[],
  counts: (entry: LogFact) => boolean,
  keyOf: (entry: LogFact) => string,
): readonly string[] {
  const seen = new Set<string>();
  return log.filter(counts).flatMap((entry) => {
    const key = keyOf(entry);
    const found = seen.has(key) ? [`${key} again at ${entry.sequence}`] : [];
    seen.add(key);
    return found;
  });
}

function attemptOf({ type, stepId, attempt }: LogFact): string {
  return `${type} ${stepId ?? '-'}/${attempt ?? '-'}`;
}

function callOf(entry: LogFact): string {
  return `${attemptOf(entry)}/${String(entry.payload['callId'] ?? entry.payload['turn'])}`;
}

function gateOf({ type, payload }: LogFact): string {
  return `${type} ${String(payload['gateId'])}`;
}
