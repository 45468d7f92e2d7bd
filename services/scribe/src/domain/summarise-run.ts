import { ChangeCaptured, ChangeLanded, ChecksPassed, ReviewWritten } from '@flotilla/contracts/events/step-events';
import { readEvent, type LogEntry } from '@flotilla/contracts/log-entry';
import type { EventContract } from '@flotilla/contracts/define-event';
import type { z } from 'zod';

export interface RunFacts {
  readonly goal: string;
  readonly result: 'landed' | 'no_changes';
  readonly log: readonly LogEntry[];
}

/** What can be said of a run without a model: what was asked, what changed, what passed, where it is. */
export function summariseRun({ goal, result, log }: RunFacts): string {
  const captured = last(log, ChangeCaptured);
  const landed = last(log, ChangeLanded);
  const passed = last(log, ChecksPassed);
  const review = last(log, ReviewWritten);
  const sentences = [
    `Asked: ${cut(goal, 200)}`,
    result === 'no_changes' ? 'Nothing had to be changed.' : undefined,
    captured && result === 'landed'
      ? `${describeFiles(captured.change.files)}: ${cut(captured.summary, 300)}`
      : undefined,
    passed && passed.checks.length > 0
      ? `Passed: ${passed.checks.map((check) => cut(check, 80)).join(', ')}.`
      : undefined,
    review && review.findings.length > 0 ? `The review left ${count(review.findings.length, 'finding')}.` : undefined,
    landed ? `Landed on ${landed.branch} as ${landed.commit.slice(0, 12)}.` : undefined,
  ];
  return sentences.filter((sentence) => sentence !== undefined).join('\n');
}

type Files = z.output<typeof ChangeCaptured.payload>['change']['files'];

function describeFiles(files: Files): string {
  const total = (of: 'additions' | 'deletions') => files.reduce((sum, file) => sum + (file[of] ?? 0), 0);
  return `Changed ${count(files.length, 'file')} (+${total('additions')} -${total('deletions')})`;
}

function last<Type extends string, Schema extends z.ZodObject>(
  log: readonly LogEntry[],
  contract: EventContract<Type, Schema>,
): z.output<Schema> | undefined {
  return log.map((entry) => readEvent(entry, contract)).findLast((payload) => payload !== undefined);
}

function count(number: number, thing: string): string {
  return `${number} ${thing}${number === 1 ? '' : 's'}`;
}

function cut(text: string, limit: number): string {
  const flat = text.trim().replaceAll(/\s+/g, ' ');
  return flat.length <= limit ? flat : `${flat.slice(0, limit - 1)}…`.toWellFormed();
}
