import { StepRequestedEvent } from '@flotilla/contracts/events/run-events';
import { StepId } from '@flotilla/contracts/ids';
import { expect, test } from 'vitest';
import { createLog, exampleRunId } from './log.fixture.ts';
import { typeUnknown, unknownTypes, whyStepUnknown } from './refuse-unknown.ts';

test('a type of no event is told with the types that there are', () => {
  expect(unknownTypes(['tool.finished', 'nope', 'run.ended'])).toEqual(['nope']);
  expect(typeUnknown('nope')).toMatchObject({ status: 400, advice: expect.stringContaining('tool.finished') });
});

test('a step that the run did not come to is told with those that it came to', () => {
  const log = createLog();
  const why = (step: string) => whyStepUnknown(exampleRunId, StepId.parse(step), log.entries);
  expect(why('build')).toMatchObject({ status: 400, advice: expect.stringContaining('none yet') });
  log.add(StepRequestedEvent, { verb: 'open' }, { stepId: 'open', attempt: 1 });
  log.add(StepRequestedEvent, { verb: 'build' }, { stepId: 'build', attempt: 1 });
  expect(why('nope')).toMatchObject({ code: 'STEP_UNKNOWN', advice: expect.stringContaining('open, build') });
  expect(why('build')).toBeUndefined();
});
