import type { RunId, StepId } from '@flotilla/contracts/ids';
import { escapeInvisible } from './visible-text.ts';

/** Which occasion made a commit; written as trailers, read back from history. */
export interface CommitOccasion {
  readonly runId: RunId;
  readonly stepId: StepId;
  readonly attempt?: number;
}

export const runTrailer = 'Flotilla-Run';
export const stepTrailer = 'Flotilla-Step';
const attemptTrailer = 'Flotilla-Attempt';

const subjectLimit = 120;
const textLimit = 10_000;

/**
 * Writes a commit message from text that a model or a person supplied and the trailers that only the fleet sets. Lines of
 * the text that read as one of our trailers, or as somebody's sign-off or review, are quoted with `> `, so that the last
 * paragraph holds our trailers alone.
 */
export function composeCommitMessage(text: string, occasion: CommitOccasion): string {
  const lines = escapeInvisible(text.toWellFormed().replace(/\r\n?/g, '\n').slice(0, textLimit))
    .split('\n')
    .map((line) => quoteForgery(line.trimEnd()));
  const subject = cutSubject(lines.find((line) => line.trim() !== '')?.trim() ?? 'Change without a description');
  const body = lines
    .slice(lines.findIndex((line) => line.trim() !== '') + 1)
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
  const trailers = [`${runTrailer}: ${occasion.runId}`, `${stepTrailer}: ${occasion.stepId}`];
  if (occasion.attempt !== undefined) trailers.push(`${attemptTrailer}: ${occasion.attempt}`);
  return [subject, ...(body === '' ? [] : [body]), trailers.join('\n')].join('\n\n') + '\n';
}

function quoteForgery(line: string): string {
  return /^\s*(flotilla[\w\s-]*|[\w-]+-by)\s*[:=]/i.test(line) ? `> ${line.trim()}` : line;
}

function cutSubject(subject: string): string {
  const characters = [...subject];
  return characters.length > subjectLimit ? `${characters.slice(0, subjectLimit - 1).join('')}…` : subject;
}
