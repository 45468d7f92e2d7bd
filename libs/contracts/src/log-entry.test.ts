import { expect, test } from 'vitest';
import { eventCatalogue } from './log-entry.ts';

test.each(eventCatalogue.map((contract) => [contract.type, contract] as const))(
  '%s parses its own example',
  (_, contract) => {
    expect(contract.payload.safeParse(contract.example).error).toBeUndefined();
  },
);

test('no two events share a type', () => {
  expect(new Set(eventCatalogue.map(({ type }) => type)).size).toBe(eventCatalogue.length);
});
