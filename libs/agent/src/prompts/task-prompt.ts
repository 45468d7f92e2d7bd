import type { Feedback } from '@flotilla/contracts/step-request';
import type { AgentTask } from '../agent-task.ts';
import { showHidden, truncateText } from '../clean-text.ts';
import { fence } from '../fence.ts';

const limitCharacters = {
  goal: 20_000,
  plan: 20_000,
  feedback: 20_000,
  map: 40_000,
  diff: 120_000,
  timeline: 60_000,
} as const;

/** The task of a step as the conversation opens with it: our words outside, everybody else's inside fences. */
export function writeTask(task: AgentTask, checks: readonly string[], nonce: string): string {
  const data = (name: keyof typeof limitCharacters, text: string) =>
    fence(name, truncateText(showHidden(text), limitCharacters[name]), nonce);
  const maybe = (text: string | undefined, words: string, name: keyof typeof limitCharacters) =>
    text === undefined ? [] : [`${words}\n${data(name, text)}`];
  const goal = `The goal:\n${data('goal', task.goal)}`;
  const parts: readonly string[] = (() => {
    switch (task.role) {
      case 'planner':
        return ['Plan the change.', goal, ...maybe(task.map, 'What is known of the project:', 'map')];
      case 'executor':
        return [
          'Make the change.',
          goal,
          ...maybe(task.plan, 'The plan of another model, a proposal:', 'plan'),
          ...maybe(task.map, 'What is known of the project:', 'map'),
          ...(checks.length === 0
            ? []
            : [`The project is checked with:\n${fence('checks', showHidden(checks.join('\n')), nonce)}`]),
          ...(task.feedback.length === 0
            ? []
            : [
                `An earlier version of this change came back. Deal with all of it:\n${data('feedback', task.feedback.map(describeFeedback).join('\n\n'))}`,
              ]),
        ];
      case 'reviewer':
        return [
          'Review the change.',
          goal,
          ...maybe(task.plan, 'The plan it followed:', 'plan'),
          `Checks that passed on exactly this state of the project:\n${fence('checks', task.checksPassed.length === 0 ? '(none)' : showHidden(task.checksPassed.join('\n')), nonce)}`,
          `The change${task.diffTruncated ? ', cut short; read the files for the rest' : ''}:\n${data('diff', task.diff)}`,
        ];
      case 'scribe':
        return [
          'Write the summary of this run, and propose memories if there are any.',
          goal,
          `How it ended:\n${fence('result', showHidden(task.result), nonce)}`,
          `What happened:\n${data('timeline', task.timeline)}`,
          ...maybe(task.diff, 'What was changed:', 'diff'),
        ];
    }
  })();
  return parts.join('\n\n');
}

const senders = {
  review: 'The reviewer',
  checks: 'The checks',
  person: 'A person',
  conflict: 'Landing met a conflict',
} as const;

function describeFeedback({ from, text, findings, paths }: Feedback): string {
  return [
    `${senders[from]}: ${text}`,
    ...findings.map(
      ({ severity, path, line, text: finding }) =>
        `- ${severity}${path === undefined ? '' : ` in ${path}${line === undefined ? '' : `:${line}`}`}: ${finding}`,
    ),
    ...(paths.length === 0 ? [] : [`Files: ${paths.join(', ')}`]),
  ].join('\n');
}
