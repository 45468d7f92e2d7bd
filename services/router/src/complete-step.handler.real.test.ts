import type { StepCompleted } from '@flotilla/contracts/messages/step-completed';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import type { Delivery } from '@flotilla/stream/stage';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CompleteStepHandler } from './complete-step.handler.ts';
import { change, done, spentTokens, step } from './domain/run.fixture.ts';
import { ann, createRouterFixture, failureOf, type RouterFixture } from './store/router.fixture.ts';

let fixture: RouterFixture;
beforeAll(async () => {
  fixture = await createRouterFixture();
});
afterAll(() => fixture.close());

let deliveries = 0;
const deliveryOf = (delivery: number): Delivery => ({
  messageId: `m-${(deliveries += 1)}`,
  stage: 'StepCompleted',
  subject: 'flotilla.step.completed',
  headers: new Map(),
  delivery,
  at: new Date(0),
  signal: new AbortController().signal,
});
const opened = (runId: StepCompleted['runId']): StepCompleted => ({
  runId,
  stepId: step('open'),
  attempt: 1,
  outcome: done('open'),
  spent: spentTokens(0),
});

/** A handler whose store fails the first time with `error`. */
function failingOnce(error: unknown) {
  let failed = false;
  const completeStep: typeof fixture.runs.completeStep = (completion, inbox) => {
    if (failed) return fixture.runs.completeStep(completion, inbox);
    failed = true;
    return Promise.reject(error as Error);
  };
  return new CompleteStepHandler({ completeStep });
}

test('what does not fit a message fails the run instead of holding it up for ever', async () => {
  const runId = await fixture.submit();
  await fixture.until(runId, 'build');
  const files = Array.from({ length: 12_000 }, (_, index) => ({
    path: `${'deep/'.repeat(15)}${index}.js`,
    status: 'added' as const,
    additions: 1,
    deletions: 0,
  }));
  const outcome = {
    kind: 'done',
    result: { verb: 'build', change: { ...change('c'), files }, summary: 'Much.' },
  } as const;
  await new CompleteStepHandler(fixture.runs).handle(
    { ...opened(runId), stepId: step('build'), outcome },
    deliveryOf(1),
  );
  expect((await fixture.log(runId)).at(-1)).toMatchObject({
    type: 'run.ended',
    payload: { result: 'failed', code: 'MESSAGE_TOO_LARGE' },
  });
});

test('what nobody foresaw is tried once more, and then fails the run', async () => {
  const runId = await fixture.submit();
  await expect(failingOnce(new TypeError('x is undefined')).handle(opened(runId), deliveryOf(1))).rejects.toThrow(
    'x is undefined',
  );
  expect((await fixture.readRun(runId)).position).toMatchObject({ kind: 'step', stepId: 'open' });
  await failingOnce(new TypeError('x is undefined')).handle(opened(runId), deliveryOf(2));
  expect((await fixture.log(runId)).at(-1)).toMatchObject({
    type: 'run.ended',
    payload: { code: 'FAILURE_UNCLASSIFIED' },
  });
});

test('what is only waited for leaves the run as it is, however often it is delivered', async () => {
  const runId = await fixture.submit();
  const lost = new FlotillaError(errors.storeUnavailable, { reason: 'down' });
  expect(await failureOf(failingOnce(lost).handle(opened(runId), deliveryOf(9)))).toBe('STORE_UNAVAILABLE');
  expect((await fixture.readRun(runId)).position).toMatchObject({ kind: 'step', stepId: 'open' });
  await fixture.runs.cancel(runId, ann);
});

test('an answer for a run that does not exist is refused', async () => {
  const nobody = `run_${'9'.repeat(26)}` as StepCompleted['runId'];
  expect(await failureOf(new CompleteStepHandler(fixture.runs).handle(opened(nobody), deliveryOf(5)))).toBe(
    'RUN_UNKNOWN',
  );
});
