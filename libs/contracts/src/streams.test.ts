import { expect, test } from 'vitest';
import { catalogue } from './catalogue.ts';
import { DeadLetterRecord, exampleDeadLetterRecord } from './dead-letter.ts';
import { durableName, streams } from './streams.ts';

const matches = (pattern: string, subject: string): boolean => {
  const wanted = pattern.split('.');
  const given = subject.split('.');
  return wanted.length === given.length && wanted.every((token, place) => token === '*' || token === given[place]);
};

test.each(catalogue.map((contract) => [contract.name, contract] as const))(
  '%s has its subject in the stream it names and in no other',
  (_, { subject, stream }) => {
    const homes = Object.values(streams).filter(({ subjects }) =>
      subjects.some((pattern) => pattern === subject || matches(pattern, subject)),
    );
    expect(homes.map(({ name }) => name)).toEqual([stream]);
  },
);

test('no two consumers share a durable name, and each is a name the broker takes', () => {
  const names = catalogue.map(({ consumer, subject }) => durableName(consumer, subject));
  expect(new Set(names).size).toBe(names.length);
  for (const name of names) expect(name).toMatch(/^[a-zA-Z0-9_-]+$/);
});

test('a dead letter parses its own example', () => {
  expect(DeadLetterRecord.safeParse(exampleDeadLetterRecord).error).toBeUndefined();
});
