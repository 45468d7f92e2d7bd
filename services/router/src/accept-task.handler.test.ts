import { RunId } from '@flotilla/contracts/ids';
import { TaskSubmitted } from '@flotilla/contracts/messages/task-submitted';
import type { Delivery } from '@flotilla/stream/stage';
import { expect, test } from 'vitest';
import { AcceptTaskHandler } from './accept-task.handler.ts';
import type { Submission } from './store/intake.store.ts';

const task = TaskSubmitted.payload.parse(TaskSubmitted.example);
const runId = RunId.parse('run_01j9z3k8m2n4p6q8r0s2t4v6w8');

async function deliver(subject: string, headers: Readonly<Record<string, string>> = {}) {
  const submissions: Submission[] = [];
  const answers: (readonly [string, unknown])[] = [];
  const runs = {
    accept: (submission: Submission) =>
      Promise.resolve(void submissions.push(submission)).then(() => ({ runId, created: true })),
  };
  const handler = new AcceptTaskHandler(runs, (to, text) => void answers.push([to, JSON.parse(text)]));
  const delivery: Delivery = {
    messageId: 'TASKS/7/1',
    stage: 'TaskSubmitted',
    subject,
    headers: new Map(Object.entries(headers)),
    delivery: 1,
    at: new Date(0),
    signal: new AbortController().signal,
  };
  await handler.handle(task, delivery);
  return { submission: submissions[0], answers };
}

test.each([
  ['flotilla.tasks.submitted', 'local'],
  ['flotilla.tasks.submitted.ann', 'ann'],
  ['flotilla.tasks.submitted.ci-bot', 'ci-bot'],
])('a task on %s is of %s', async (subject, principal) => {
  expect((await deliver(subject)).submission).toMatchObject({ principal, through: 'queue', intakeId: 'TASKS/7/1' });
});

test('a subject that names no principal is refused', async () => {
  await expect(deliver('flotilla.tasks.submitted.?')).rejects.toMatchObject({ code: 'MESSAGE_MALFORMED' });
});

test("a sender's message id is one among its own messages", async () => {
  const ids = ['ann', 'bob'].map(
    async (name) => (await deliver(`flotilla.tasks.submitted.${name}`, { 'Nats-Msg-Id': 'm-1' })).submission?.intakeId,
  );
  expect(await Promise.all(ids)).toEqual(['ann/m-1', 'bob/m-1']);
});

test.each(['a_b', 'ann@x', 'ci-bot'])('the run id of a task of %s goes to its own inbox alone', async (name) => {
  const own = `_INBOX_${name}.abc`;
  const answeredTo = async (answerTo: string) =>
    (await deliver(`flotilla.tasks.submitted.${name}`, { 'Flotilla-Answer-To': answerTo })).answers.map(([to]) => to);
  expect(await answeredTo(own)).toEqual([own]);
  expect(await answeredTo('_INBOX_bob.abc')).toEqual([]);
});

test('the run id goes to the inbox that the message names, and nowhere else', async () => {
  expect((await deliver('flotilla.tasks.submitted', { 'Flotilla-Answer-To': '_INBOX.abc.1' })).answers).toEqual([
    ['_INBOX.abc.1', { runId, created: true }],
  ]);
  expect(
    (await deliver('flotilla.tasks.submitted', { 'Flotilla-Answer-To': 'flotilla.command.submitTask' })).answers,
  ).toEqual([]);
  expect((await deliver('flotilla.tasks.submitted')).answers).toEqual([]);
});
