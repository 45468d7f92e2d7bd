import { expect, test } from 'vitest';
import { catalogue, stepRequests } from './catalogue.ts';
import { serviceOfVerb, verbs } from './verbs.ts';

test.each(catalogue.map((contract) => [contract.name, contract] as const))(
  '%s parses its own example',
  (_, contract) => {
    expect(contract.payload.safeParse(contract.example).error).toBeUndefined();
  },
);

test.each(catalogue.filter(({ stream }) => stream === 'WORK').map((contract) => [contract.name, contract] as const))(
  '%s drops a field it does not know, so that services may be updated one by one',
  (_, contract) => {
    expect(contract.payload.parse({ ...contract.example, fromTheFuture: 1 })).toEqual(
      contract.payload.parse(contract.example),
    );
  },
);

test('a task with a field nobody listed is refused', () => {
  const intake = catalogue.find(({ stream }) => stream === 'TASKS');
  expect(intake?.payload.safeParse({ ...intake.example, priority: 1 }).success).toBe(false);
});

test('no two messages share a subject', () => {
  expect(new Set(catalogue.map(({ subject }) => subject)).size).toBe(catalogue.length);
});

test.each(verbs)('the request to %s goes to the service that does it', (verb) => {
  expect(stepRequests[verb].subject).toBe(`flotilla.step.requested.${serviceOfVerb[verb]}.${verb}`);
  expect(stepRequests[verb].consumer).toBe(serviceOfVerb[verb]);
});

test('a message id names the occasion: another attempt is another message', () => {
  const { payload, example, messageId } = stepRequests.build;
  const first = payload.parse(example);
  expect(messageId({ ...first, attempt: 2 })).not.toBe(messageId(first));
});
