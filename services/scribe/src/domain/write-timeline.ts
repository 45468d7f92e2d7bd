import {
  CheckRan,
  ChangeCaptured,
  ChangeLanded,
  ChecksPassed,
  PlanWritten,
  RepositoryOpened,
  ReviewWritten,
  SetupFinished,
} from '@flotilla/contracts/events/step-events';
import { GateDecided, StepCompletedEvent, TaskAccepted } from '@flotilla/contracts/events/run-events';
import { readEvent, type LogEntry } from '@flotilla/contracts/log-entry';
import type { EventContract } from '@flotilla/contracts/define-event';
import type { z } from 'zod';

/** One line for each thing that mattered, in order, each at most 300 characters. What people and models wrote is quoted. */
export function writeTimeline(log: readonly LogEntry[]): readonly string[] {
  return log.flatMap((entry) => {
    for (const describe of lines) {
      const line = describe(entry);
      if (line !== undefined) return [oneLine(line)];
    }
    return [];
  });
}

/** The kinds of entries that a line or the summary is made of. */
export const timelineTypes: readonly string[] = [
  TaskAccepted,
  RepositoryOpened,
  SetupFinished,
  PlanWritten,
  ChangeCaptured,
  CheckRan,
  ChecksPassed,
  ReviewWritten,
  GateDecided,
  ChangeLanded,
  StepCompletedEvent,
].map(({ type }) => type);

type DescribeEntry = (entry: LogEntry) => string | undefined;

const lines: readonly DescribeEntry[] = [
  on(TaskAccepted, ({ project, topology }) => `accepted for ${project} with ${topology}`),
  on(RepositoryOpened, ({ branch, commit, files }) => `opened ${branch} at ${commit.slice(0, 12)} with ${files} files`),
  on(SetupFinished, ({ how, commands }) => `setup ${how}${commands.length > 0 ? `: ${commands.join('; ')}` : ''}`),
  on(PlanWritten, ({ plan }) => `planned: ${quote(plan)}`),
  on(
    ChangeCaptured,
    ({ change, summary }) => `changed ${change.files.map(({ path }) => path).join(', ')}: ${quote(summary)}`,
  ),
  on(
    CheckRan,
    ({ command, exitCode, timedOut, durationMs }) =>
      `check ${quote(command)} ${timedOut ? 'ran out of time' : `ended with ${exitCode}`} after ${durationMs} ms`,
  ),
  on(ChecksPassed, ({ tree, checks }) => `${checks.length} checks passed on tree ${tree.slice(0, 12)}`),
  on(
    ReviewWritten,
    ({ verdict, findings, summary }) => `review: ${verdict} with ${findings.length} findings: ${quote(summary)}`,
  ),
  on(
    GateDecided,
    ({ decision, by, comment }) => `${by} decided ${decision}${comment === undefined ? '' : `: ${quote(comment)}`}`,
  ),
  on(ChangeLanded, ({ branch, commit, how }) => `landed on ${branch} as ${commit.slice(0, 12)} (${how})`),
  (entry) => {
    const outcome = readEvent(entry, StepCompletedEvent)?.outcome;
    if (outcome === undefined || outcome.kind === 'done') return undefined;
    return `step ${entry.stepId ?? '?'} ended as ${outcome.kind}`;
  },
];

function on<Type extends string, Schema extends z.ZodObject>(
  contract: EventContract<Type, Schema>,
  describe: (payload: z.output<Schema>) => string,
): DescribeEntry {
  return (entry) => {
    const payload = readEvent(entry, contract);
    return payload === undefined ? undefined : describe(payload);
  };
}

function quote(text: string): string {
  return JSON.stringify(text);
}

function oneLine(line: string): string {
  const flat = line.replaceAll(/\s+/g, ' ');
  return flat.length <= 300 ? flat : `${flat.slice(0, 299)}…`;
}
