import { Task } from '@flotilla/contracts/messages/task-submitted';
import { expect, test } from 'vitest';
import { fingerprintTask } from './fingerprint-task.ts';

const task = Task.parse({ goal: 'Keep digits.', project: 'slugify' });

test('tasks are the same whatever their keys and the order of their fields', () => {
  const same = Task.parse({ project: 'slugify', externalKey: 'k', goal: 'Keep digits.' });
  expect(fingerprintTask(same)).toBe(fingerprintTask(task));
  expect(fingerprintTask({ ...task, goal: 'Keep letters.' })).not.toBe(fingerprintTask(task));
});
