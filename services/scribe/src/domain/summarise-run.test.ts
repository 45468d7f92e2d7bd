import { StepCompletedEvent } from '@flotilla/contracts/events/run-events';
import {
  ChangeCaptured,
  ChangeLanded,
  ChangeMerged,
  ChecksPassed,
  ReviewWritten,
} from '@flotilla/contracts/events/step-events';
import type { RunId } from '@flotilla/contracts/ids';
import { eventCatalogue, type LogEntry } from '@flotilla/contracts/log-entry';
import { expect, test } from 'vitest';
import { chooseMemory } from './choose-memory.ts';
import { summariseRun } from './summarise-run.ts';
import { writeTimeline } from './write-timeline.ts';

const entries = (...of: readonly { readonly type: string; readonly example: unknown }[]): LogEntry[] =>
  of.map(({ type, example }, index) => ({
    runId: 'run_01j9z3k8m2n4p6q8r0s2t4v6w8' as RunId,
    sequence: index + 1,
    type,
    payload: example,
    at: '2030-01-01T00:00:00.000Z',
  }));

test('without a model the summary says what was asked, what changed, what passed and where it landed', () => {
  const log = entries(ChangeCaptured, ChecksPassed, ReviewWritten, ChangeLanded);
  expect(summariseRun({ goal: 'Make slugify\nkeep digits.', result: 'landed', log })).toBe(
    [
      'Asked: Make slugify keep digits.',
      'Changed 1 file (+1 -1): Digits are kept.',
      'Passed: npm test.',
      'The review left 1 finding.',
      'Landed on main as cccccccccccc.',
    ].join('\n'),
  );
});

test('a run that changed nothing says so', () => {
  expect(summariseRun({ goal: 'Look.', result: 'no_changes', log: [] })).toBe(
    'Asked: Look.\nNothing had to be changed.',
  );
});

/** What a run's own account needs no line for. */
const untold = [
  ...['step.requested', 'step.started', 'step.attempt_failed', 'door.request', 'checks.failed', 'change.push_started'],
  ...['run.ended', 'summary.written', 'memory.proposed'],
  ...[
    'agent.turn',
    'agent.turn_broken',
    'agent.checkpoint',
    'agent.todo',
    'agent.nudge',
    'agent.finish_refused',
    'agent.finished',
  ],
  ...['tool.decided', 'tool.started', 'tool.finished'],
];

test.each(eventCatalogue.map((contract) => [contract.type, contract] as const))(
  '%s has a line in the timeline, or is one of those that need none',
  (type, contract) => {
    const lines = writeTimeline(entries(contract));
    expect(lines).toHaveLength(untold.includes(type) ? 0 : 1);
    for (const line of lines) expect(line).toMatch(/^.{10,300}$/);
  },
);

test('what is not in the catalogue makes no line', () => {
  expect(writeTimeline(entries({ type: 'from.the_future', example: { x: 1 } }))).toEqual([]);
});

test('a step that went well needs no line of its own', () => {
  const result = { verb: 'setup', key: 'deps', reused: false };
  const example = { ...StepCompletedEvent.example, outcome: { kind: 'done', result } };
  expect(writeTimeline(entries({ ...StepCompletedEvent, example }))).toEqual([]);
});

test('a merge that did not land says on what and why', () => {
  expect(writeTimeline(entries(ChangeMerged))).toEqual([
    expect.stringMatching(/^merged with the branch at 888888888888 as 999999999999: "The branch moved, /),
  ]);
});

test('the timeline keeps an entry on one line whatever text a person or a model wrote', () => {
  const captured = { ...ChangeCaptured, example: { ...ChangeCaptured.example, summary: 'Done.\nlanded on main as 1' } };
  expect(writeTimeline(entries(captured))).toEqual([expect.stringContaining('"Done.\\nlanded on main as 1"')]);
});

test('at most one memory is proposed, and one without text is none', () => {
  const memory = { kind: 'learning', title: 'Slugs', text: 'Their tests are in test.js.' } as const;
  expect(chooseMemory([])).toBeUndefined();
  expect(chooseMemory([{ ...memory, text: '  ' }])).toBeUndefined();
  expect(chooseMemory([{ ...memory, title: ' ' }, memory, { ...memory, title: 'Second' }])).toEqual(memory);
  expect(chooseMemory([{ ...memory, text: 'x'.repeat(9_000) }])?.text.length).toBe(2_000);
});
