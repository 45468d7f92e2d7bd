import type { Spent } from '@flotilla/contracts/allowance';
import type { TimelineStep } from '@flotilla/contracts/calls/show-run';
import type { Spending } from '@flotilla/contracts/calls/shapes';
import {
  RunEnded,
  type RunResult,
  StepCompletedEvent,
  StepRequestedEvent,
} from '@flotilla/contracts/events/run-events';
import { StepStarted } from '@flotilla/contracts/events/step-events';
import { type LogEntry, readEvent } from '@flotilla/contracts/log-entry';

/** Types of entries that a timeline is made of. */
export const timelineTypes: readonly string[] = [
  StepRequestedEvent.type,
  StepStarted.type,
  StepCompletedEvent.type,
  RunEnded.type,
];

/**
 * Each attempt of each step in the order they were asked for. A second delivery of an attempt does not move its start, and a
 * step that its run did not wait for ended with the run.
 */
export function buildTimeline(entries: readonly LogEntry[]): readonly TimelineStep[] {
  const steps = new Map<string, TimelineStep>();
  for (const entry of entries) {
    const ended = readEvent(entry, RunEnded);
    if (ended !== undefined) return [...steps.values()].map((step) => endWithRun(step, ended.result, entry.at));
    const { stepId, attempt } = entry;
    if (stepId === undefined || attempt === undefined) continue;
    const key = `${stepId}/${attempt}`;
    const requested = readEvent(entry, StepRequestedEvent);
    const step = steps.get(key);
    if (requested !== undefined) {
      steps.set(key, { stepId, attempt, verb: requested.verb, requestedAt: entry.at, ...step });
    } else if (step !== undefined) {
      steps.set(key, advanceStep(step, entry));
    }
  }
  return [...steps.values()];
}

function endWithRun(step: TimelineStep, result: RunResult, at: string): TimelineStep {
  if (step.outcome !== undefined) return step;
  return { ...step, outcome: result === 'limit_reached' ? 'limit_reached' : 'cancelled', completedAt: at };
}

function advanceStep(step: TimelineStep, entry: LogEntry): TimelineStep {
  const started = readEvent(entry, StepStarted);
  if (started !== undefined) return { startedAt: entry.at, service: started.service, ...step };
  const completed = readEvent(entry, StepCompletedEvent);
  if (completed === undefined) return step;
  const { outcome, spent } = completed;
  const { code, message, advice } = outcome.kind === 'failed' ? outcome : {};
  return {
    ...step,
    outcome: outcome.kind,
    completedAt: entry.at,
    spent: spendingOf(spent),
    ...(code === undefined || message === undefined || advice === undefined
      ? {}
      : { failure: { code, message, advice } }),
  };
}

export function spendingOf({ turns, calls, tokens, microdollars, seconds }: Spent): Spending {
  return { turns, calls, tokens, microdollars, milliseconds: Math.round(seconds * 1000) };
}
