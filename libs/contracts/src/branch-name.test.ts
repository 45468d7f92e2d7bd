import { expect, test } from 'vitest';
import { AddProject } from './calls/add-project.ts';
import { SubmitTask } from './calls/submit-task.ts';
import { Task } from './messages/task-submitted.ts';

const takers = [
  ['a task of the queue', Task, { goal: 'x', project: 'p' }],
  ['submitTask', SubmitTask.request, { goal: 'x', project: 'p' }],
  ['addProject', AddProject.request, { name: 'p', remote: '/srv/p.git' }],
] as const;

test.each(takers)('%s refuses what git has as no branch, naming the field and why', (_, schema, rest) => {
  for (const branch of [
    '',
    '-x',
    'a b',
    'a..b',
    'a.lock',
    '.a',
    'a//b',
    'HEAD',
    'a~1',
    'a\nb',
    'é'.repeat(121),
    'a'.repeat(241),
  ]) {
    const issues = schema.safeParse({ ...rest, branch }).error?.issues;
    expect([branch, issues?.map(({ path }) => path.join('.'))]).toEqual([branch, ['branch']]);
  }
  for (const branch of ['main', 'feature/x-1', 'release/1.2', 'é'.repeat(120)])
    expect(schema.safeParse({ ...rest, branch }).success).toBe(true);
});
