import { RunEnded, StepCompletedEvent, StepRequestedEvent } from '@flotilla/contracts/events/run-events';
import { StepStarted } from '@flotilla/contracts/events/step-events';
import { expect, test } from 'vitest';
import { buildTimeline } from './build-timeline.ts';
import { createLog, second } from './log.fixture.ts';

const first = { stepId: 'build', attempt: 1 };
const again = { stepId: 'build', attempt: 2 };
const spent = { turns: 1, calls: 2, tokens: 300, microdollars: null, seconds: 2.5 };

test('each attempt of a step is told once, from its request to its outcome', () => {
  const log = createLog();
  log.add(StepRequestedEvent, { verb: 'build' }, first);
  log.add(StepStarted, StepStarted.example, first);
  log.add(StepCompletedEvent, { outcome: { kind: 'limit_reached', limit: 'turns' }, spent }, first);
  log.add(StepRequestedEvent, { verb: 'build' }, again);
  expect(buildTimeline(log.entries)).toEqual([
    {
      ...first,
      verb: 'build',
      service: 'executor',
      requestedAt: second(1),
      startedAt: second(2),
      completedAt: second(3),
      outcome: 'limit_reached',
      spent: { turns: 1, calls: 2, tokens: 300, microdollars: null, milliseconds: 2500 },
    },
    { ...again, verb: 'build', requestedAt: second(4) },
  ]);
});

test('a second delivery does not move the start, and the order is that of the requests', () => {
  const log = createLog();
  log.add(StepRequestedEvent, { verb: 'plan' }, { stepId: 'plan', attempt: 1 });
  log.add(StepRequestedEvent, { verb: 'build' }, first);
  log.add(StepStarted, StepStarted.example, first);
  log.add(StepStarted, { ...StepStarted.example, delivery: 2, instance: 'executor-2' }, first);
  const timeline = buildTimeline(log.entries);
  expect(timeline.map(({ stepId }) => stepId)).toEqual(['plan', 'build']);
  expect(timeline[1]?.startedAt).toBe(second(3));
});

test('a failure keeps its code, message and advice', () => {
  const log = createLog();
  const failure = { code: 'REMOTE_UNREACHABLE', message: 'gone', advice: 'Check it.' };
  log.add(StepRequestedEvent, { verb: 'open' }, first);
  log.add(StepCompletedEvent, { outcome: { kind: 'failed', ...failure }, spent }, first);
  expect(buildTimeline(log.entries)[0]).toMatchObject({ outcome: 'failed', failure });
});

test.each([
  ['cancelled', 'cancelled'],
  ['limit_reached', 'limit_reached'],
  ['landed', 'cancelled'],
] as const)('in a run that ended %s, no step is under way: what nobody answered for is %s then', (result, outcome) => {
  const log = createLog();
  log.add(StepRequestedEvent, { verb: 'build' }, { stepId: 'build', attempt: 1 });
  log.add(StepCompletedEvent, { outcome: { kind: 'no_changes', reason: 'None.' }, spent }, first);
  log.add(StepRequestedEvent, { verb: 'land' }, { stepId: 'land', attempt: 1 });
  log.add(StepStarted, StepStarted.example, { stepId: 'land', attempt: 1 });
  log.add(RunEnded, { result, spent });
  log.add(StepStarted, { ...StepStarted.example, delivery: 2 }, { stepId: 'land', attempt: 1 });
  expect(buildTimeline(log.entries)).toMatchObject([
    { stepId: 'build', outcome: 'no_changes', completedAt: second(2) },
    { stepId: 'land', outcome, startedAt: second(4), completedAt: second(5) },
  ]);
});
