import { Project } from '@flotilla/contracts/project';
import { Task } from '@flotilla/contracts/messages/task-submitted';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { failed } from '../domain/run.fixture.ts';
import { ann, bob, createRouterFixture, failureOf, project, type RouterFixture } from './router.fixture.ts';

let fixture: RouterFixture;
beforeAll(async () => {
  fixture = await createRouterFixture();
});
afterAll(() => fixture.close());

test('one external key is one run, however often and at once it is asked for', async () => {
  const task = Task.parse({ goal: 'Once.', project: project.name, externalKey: 'ticket-1' });
  const answers = await Promise.all(
    [1, 2, 3, 4].map(() => fixture.intake.accept({ task, principal: ann, through: 'command' })),
  );
  expect(new Set(answers.map(({ runId }) => runId)).size).toBe(1);
  expect(answers.filter(({ created }) => created)).toHaveLength(1);
  expect(
    await failureOf(fixture.intake.accept({ task: { ...task, goal: 'Another.' }, principal: ann, through: 'command' })),
  ).toBe('EXTERNAL_KEY_REUSED');
});

test('one arrival on the queue is one run, also when it is delivered again', async () => {
  const submission = {
    task: Task.parse({ goal: 'Arrive.', project: project.name }),
    principal: ann,
    through: 'queue',
    intakeId: 'local/m-1',
  } as const;
  const first = await fixture.intake.accept(submission);
  expect(await fixture.intake.accept(submission)).toEqual({ runId: first.runId, created: false });
});

test('a task for what nobody knows is refused, and nothing of it is kept', async () => {
  expect(await failureOf(fixture.submit({ project: 'nobody' as typeof project.name }))).toBe('PROJECT_UNKNOWN');
  expect(await failureOf(fixture.submit({ topology: 'feature_buidler' as never }))).toBe('TOPOLOGY_UNKNOWN');
});

test('a failed run is tried again as a new one, once however often it is asked, and three times in all', async () => {
  let runId = await fixture.submit({ externalKey: 'retry-me' });
  expect(await failureOf(fixture.intake.retry(runId, bob))).toBe('RUN_NOT_ENDED');
  const first = runId;
  for (let time = 1; time <= 3; time += 1) {
    await fixture.complete(runId, failed);
    const answers = await Promise.all([fixture.intake.retry(runId, bob), fixture.intake.retry(runId, bob)]);
    expect(new Set(answers.map((answer) => answer.runId)).size).toBe(1);
    runId = answers[0].runId;
  }
  await fixture.complete(runId, failed);
  expect(await failureOf(fixture.intake.retry(runId, bob))).toBe('RETRIES_EXHAUSTED');
  const task = Task.parse({ goal: 'Keep digits.', project: project.name, externalKey: 'retry-me' });
  expect(await fixture.intake.accept({ task, principal: ann, through: 'command' })).toEqual({
    runId: first,
    created: false,
  });
});

test('a task is tried again on the project as it is by then', async () => {
  await fixture.projects.add(Project.parse({ name: 'moved', remote: '/srv/old.git' }), false);
  const runId = await fixture.submit({ project: 'moved' as typeof project.name });
  await fixture.complete(runId, failed);
  await fixture.projects.add(Project.parse({ name: 'moved', remote: '/srv/new.git' }), true);
  const retried = await fixture.intake.retry(runId, bob);
  expect(await fixture.readRun(retried.runId)).toMatchObject({
    project: { remote: '/srv/new.git' },
    retryOf: runId,
    principal: 'bob',
  });
  expect(await fixture.readRun(runId)).toMatchObject({ project: { remote: '/srv/old.git' } });
});

test('a key is of the repository that the name of the project stands for, and of no other that has the name later', async () => {
  const name = 'renamed' as typeof project.name;
  const submit = (goal: string) => fixture.submit({ project: name, externalKey: 'ticket-1', goal });
  await fixture.projects.add(Project.parse({ name, remote: '/srv/first.git' }), false);
  const first = await submit('Of the first.');
  expect(await failureOf(submit('Of the second.'))).toBe('EXTERNAL_KEY_REUSED');
  await fixture.complete(first, failed);

  await fixture.projects.remove(name);
  expect(await submit('Of the first.')).toBe(first);
  await fixture.projects.add(Project.parse({ name, remote: '/srv/second.git' }), false);
  const second = await submit('Of the second.');
  expect(await fixture.readRun(second)).toMatchObject({ project: { remote: '/srv/second.git' } });
  expect(await submit('Of the second.')).toBe(second);
  await fixture.complete(second, failed);

  await fixture.projects.remove(name);
  await fixture.projects.add(Project.parse({ name, remote: '/srv/first.git' }), false);
  expect(await submit('Of the first.')).toBe(first);
});
