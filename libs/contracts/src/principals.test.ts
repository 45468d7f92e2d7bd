import { expect, test } from 'vitest';
import {
  permissionsOfPublisher,
  permissionsOfService,
  publishedSubjects,
  renderNatsAuthorization,
} from './principals.ts';
import { serviceNames } from './services.ts';

const fleetSubjects = (subjects: readonly string[]) => subjects.filter((subject) => subject.startsWith('flotilla.'));

test.each(serviceNames)('the %s may publish nothing by a wildcard that reaches beyond its own subjects', (service) => {
  for (const subject of permissionsOfService(service).publish) {
    expect(subject).not.toMatch(/^(>|\*|flotilla\.>|flotilla\.\*|\$JS\.>|\$JS\.API\.>|\$O\.>|_INBOX_.*\*)/);
  }
});

test.each(serviceNames.filter((service) => service !== 'router'))(
  'the %s cannot ask for a step or make a stream',
  (service) => {
    const { publish } = permissionsOfService(service);
    expect(publish.filter((subject) => subject.startsWith('flotilla.step.requested.'))).toEqual([]);
    expect(publish.filter((subject) => subject.includes('STREAM.CREATE'))).toEqual([]);
  },
);

test('a worker publishes answers, its dead letters, events and what it says live', () => {
  expect(fleetSubjects(permissionsOfService('planner').publish).toSorted()).toEqual([
    'flotilla.dead.PlanStepRequested',
    'flotilla.events.*',
    'flotilla.live.*',
    'flotilla.step.completed',
  ]);
});

test('the gateway asks and neither answers nor takes work', () => {
  const { publish, subscribe, answers } = permissionsOfService('gateway');
  expect(fleetSubjects(publish).every((subject) => /^flotilla\.(command|query)\./.test(subject))).toBe(true);
  expect(publish).toContain('flotilla.command.submitTask');
  expect(fleetSubjects(subscribe)).toEqual(['flotilla.events.*', 'flotilla.live.*']);
  expect(answers).toBe(false);
});

test('a service asks another only what the call says that it may', () => {
  const asked = (service: 'router' | 'merger') =>
    fleetSubjects(permissionsOfService(service).publish).filter((subject) => subject.startsWith('flotilla.query.'));
  expect(asked('router')).toEqual(['flotilla.query.inspectRemote']);
  expect(asked('merger')).toEqual([]);
  expect(permissionsOfService('merger').answers).toBe(true);
});

test('a publisher may put tasks on the queue under its own name and hear its own inbox, and nothing else', () => {
  expect(permissionsOfPublisher('ci')).toEqual({
    publish: ['flotilla.tasks.submitted.ci'],
    subscribe: ['_INBOX_ci.>'],
    answers: false,
  });
  expect(permissionsOfPublisher('local')).toEqual({
    publish: ['flotilla.tasks.submitted.local', 'flotilla.tasks.submitted'],
    subscribe: ['_INBOX.>'],
    answers: false,
  });
});

test('what an outbox may hold is known for each service', () => {
  expect(publishedSubjects('router')).toContain('flotilla.step.requested.executor.build');
  expect(publishedSubjects('executor')).not.toContain('flotilla.step.requested.executor.build');
});

test('the configuration names every service, the local user and each publisher once', () => {
  const passwords = Object.fromEntries([...serviceNames, 'local'].map((name) => [name, `secret-of-${name}`]));
  const text = renderNatsAuthorization(passwords as Parameters<typeof renderNatsAuthorization>[0], { ci: 's"cret' });
  const users = [...text.matchAll(/user: "(\w+)"/g)].map(([, name]) => name);
  expect(users).toEqual([...serviceNames, 'local', 'ci']);
  expect(text).toContain('password: "s\\"cret"');
});

test.each(['', '*', '>', 'a.b', 'a b', 'a*', '-a', 'ä', 'a\n', 'x'.repeat(64), 'local', 'router'])(
  'a publisher cannot be named %j, which is no token of a subject or is taken',
  (name) => {
    const passwords = Object.fromEntries([...serviceNames, 'local'].map((each) => [each, 'secret']));
    const render = () =>
      renderNatsAuthorization(passwords as Parameters<typeof renderNatsAuthorization>[0], {
        ci: 'secret',
        [name]: 'x',
      });
    expect(render).toThrow(expect.objectContaining({ code: 'PUBLISHER_NAME_REFUSED' }));
  },
);
