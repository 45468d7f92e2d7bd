import { Task } from '@flotilla/contracts/messages/task-submitted';
import { expect, test } from 'vitest';
import { acceptTask, taskOfRun } from './accept-task.ts';
import { whyRetryRefused } from './judge-retry.ts';
import { accepted, ann, began, done, DrivenRun, failed, featureBuilder, runId } from './run.fixture.ts';

const facts = {
  project: accepted().run.project,
  slip: featureBuilder,
  runId,
  principal: ann,
  through: 'queue',
  now: began,
} as const;
const task = Task.parse({ goal: 'Keep digits.', project: 'slugify' });

test.each([
  ['auto', undefined, null, 'auto'],
  ['normal', undefined, null, 'normal'],
  ['auto', 'normal', null, 'normal'],
  ['normal', undefined, 'auto', 'normal'],
  ['auto', undefined, 'normal', 'normal'],
  ['auto', 'auto', null, 'auto'],
  ['normal', 'auto', null, 'normal'],
  ['auto', 'auto', 'plan', 'plan'],
  ['plan', 'auto', 'auto', 'plan'],
] as const)(
  'where the installation runs in %s, a task that wants %s under a topology of %s runs in %s',
  (sessionMode, wanted, ofTopology, mode) => {
    const slip = { ...featureBuilder, mode: ofTopology };
    const { run } = acceptTask({
      ...facts,
      slip,
      task: wanted === undefined ? task : { ...task, mode: wanted },
      sessionMode,
    });
    expect(run.mode).toBe(mode);
  },
);

test('the time of a run begins at its intake', () => {
  expect(accepted().run).toMatchObject({
    acceptedAt: '2030-01-01T00:00:00.000Z',
    deadline: '2030-01-01T02:00:00.000Z',
  });
});

test('a run asks for its task again as it was, without its key', () => {
  const { run } = accepted();
  expect(taskOfRun(run, featureBuilder.topology)).toEqual({
    goal: 'Keep digits.',
    project: 'slugify',
    topology: 'feature_builder',
    mode: 'auto',
    setup: true,
  });
});

test('a run is tried again only after an end without landing, three times at most', () => {
  const under = new DrivenRun().run;
  const broken = new DrivenRun().complete(failed).run;
  const landed = new DrivenRun().until('remember').complete(done('remember')).run;
  expect(whyRetryRefused(under, 0)?.code).toBe('RUN_NOT_ENDED');
  expect(whyRetryRefused(landed, 0)?.code).toBe('RUN_LANDED');
  expect(whyRetryRefused(broken, 2)).toBeUndefined();
  const unknown = new DrivenRun().complete({ kind: 'failed', code: 'LANDING_UNKNOWN', message: 'm', advice: 'a' }).run;
  expect(whyRetryRefused(unknown, 0)).toMatchObject({ code: 'RUN_MAY_HAVE_LANDED', status: 409 });
  expect(whyRetryRefused(broken, 3)).toMatchObject({ code: 'RETRIES_EXHAUSTED', status: 409 });
});
