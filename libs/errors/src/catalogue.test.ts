import { expect, test } from 'vitest';
import { errors } from './catalogue.ts';
import type { ErrorDefinition } from './flotilla-error.ts';

const definitions: readonly (readonly [string, ErrorDefinition])[] = Object.entries(errors);

test('no two errors share a code', () => {
  expect(new Set(definitions.map(([, { code }]) => code)).size).toBe(definitions.length);
});

test.each(definitions)(
  '%s carries its own name as its code and says what to do next',
  (name, { code, advice, summary }) => {
    expect(code).toBe(name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase());
    expect(advice).toMatch(/\.$/);
    expect(summary).not.toMatch(/\.$/);
  },
);
