import type { Outcome } from '@flotilla/contracts/outcome';
import {
  eventCatalogue,
  readEvent,
  type EventPayload,
  type EventType,
  type LogEntry,
} from '@flotilla/contracts/log-entry';

/** One line for each thing that mattered, in order, each at most 300 characters. What people and models wrote is quoted. */
export function writeTimeline(log: readonly LogEntry[]): readonly string[] {
  return log.flatMap((entry) => {
    const line = tellers.get(entry.type)?.(entry);
    return line === undefined ? [] : [oneLine(line)];
  });
}

type Tell<Type extends EventType> = (payload: EventPayload<Type>, entry: LogEntry) => string | undefined;

/** Every kind of entry; null: what other entries tell, or how a step went about it. */
const sayings: { readonly [Type in EventType]: Tell<Type> | null } = {
  'task.accepted': ({ project, topology }) => `accepted for ${project} with ${topology}`,
  'step.requested': null,
  'step.started': null,
  'step.attempt_failed': null,
  'step.completed': ({ outcome }, { stepId }) => tellOutcome(outcome, stepId),
  'repository.opened': ({ branch, commit, files }) => `opened ${branch} at ${short(commit)} with ${files} files`,
  'setup.finished': ({ how, commands }) => `setup ${how}${commands.length > 0 ? `: ${commands.join('; ')}` : ''}`,
  'door.request': null,
  'plan.written': ({ plan }) => `planned: ${quote(plan)}`,
  'change.captured': ({ change, summary }) => `changed ${listPaths(change.files)}: ${quote(summary)}`,
  'change.merged': ({ change, reason }) =>
    `merged with the branch at ${short(change.base)} as ${short(change.commit)}: ${quote(reason)}`,
  'check.ran': ({ command, exitCode, timedOut, durationMs }) =>
    `check ${quote(command)} ${timedOut ? 'ran out of time' : `ended with ${exitCode}`} after ${durationMs} ms`,
  'checks.passed': ({ tree, checks }) => `${checks.length} checks passed on tree ${short(tree)}`,
  'checks.failed': null,
  'review.written': ({ verdict, findings, summary }) =>
    `review: ${verdict} with ${findings.length} findings: ${quote(summary)}`,
  'gate.opened': ({ question, change }) => `a person was asked about ${short(change.commit)}: ${quote(question)}`,
  'gate.decided': ({ decision, by, comment }) =>
    `${by} decided ${decision}${comment === undefined ? '' : `: ${quote(comment)}`}`,
  'turn.awaited': ({ behind }) => `waited for its turn behind ${behind}`,
  'change.push_started': null,
  'change.landed': ({ branch, commit, how }) => `landed on ${branch} as ${short(commit)} (${how})`,
  'run.cancel_requested': ({ by, reason }) =>
    `${by} asked for the run to stop${reason === undefined ? '' : `: ${quote(reason)}`}`,
  'run.ended': null,
  'summary.written': null,
  'memory.proposed': null,
  'agent.turn': null,
  'agent.turn_broken': null,
  'agent.checkpoint': null,
  'agent.todo': null,
  'agent.nudge': null,
  'agent.finish_refused': null,
  'agent.finished': null,
  'tool.decided': null,
  'tool.started': null,
  'tool.finished': null,
};

const tellers = new Map(
  eventCatalogue.flatMap((contract) => {
    // A type of the catalogue is a key of the table, whose member takes what the contract of that type reads.
    const tell = sayings[contract.type as EventType] as Tell<never> | null;
    if (tell === null) return [];
    const read = (entry: LogEntry): string | undefined => {
      const payload = readEvent(entry, contract);
      return payload === undefined ? undefined : tell(payload as never, entry);
    };
    return [[contract.type, read] as const];
  }),
);

/** The kinds of entries that a line or the summary is made of. */
export const timelineTypes: readonly string[] = [...tellers.keys()];

function tellOutcome(outcome: Outcome, stepId: string | undefined): string | undefined {
  return outcome.kind === 'done' ? undefined : `step ${stepId ?? '?'} ended as ${outcome.kind}`;
}

function listPaths(files: EventPayload<'change.captured'>['change']['files']): string {
  return files.map(({ path }) => path).join(', ');
}

function short(id: string): string {
  return id.slice(0, 12);
}

function quote(text: string): string {
  return JSON.stringify(text);
}

function oneLine(line: string): string {
  const flat = line.replaceAll(/\s+/g, ' ');
  return flat.length <= 300 ? flat : `${flat.slice(0, 299)}…`;
}
