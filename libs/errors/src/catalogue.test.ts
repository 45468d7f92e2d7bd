import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { errors } from './catalogue.ts';
import type { ErrorDefinition } from './flotilla-error.ts';

const areaFiles = readdirSync(new URL('catalogue/', import.meta.url)).filter((file) => file.endsWith('.ts'));
/** Every definition of every area, before the areas are put together: where two share a name, only one is left in `errors`. */
const definitions: readonly (readonly [string, ErrorDefinition])[] = (
  await Promise.all(
    areaFiles.map(async (file) => {
      // An area's file exports one object of definitions, and nothing else.
      const areas = Object.values(
        (await import(`./catalogue/${file}`)) as Readonly<Record<string, Readonly<Record<string, ErrorDefinition>>>>,
      );
      return areas.flatMap((area) => Object.entries(area));
    }),
  )
).flat();

const repeated = (words: readonly string[]) => words.filter((word, at) => words.indexOf(word) !== at);

test('no two errors share a name or a code, in whatever areas they are', () => {
  expect(repeated(definitions.map(([name]) => name))).toEqual([]);
  expect(repeated(definitions.map(([, { code }]) => code))).toEqual([]);
});

test('the catalogue holds every error of every area', () => {
  expect(Object.keys(errors).toSorted()).toEqual(definitions.map(([name]) => name).toSorted());
});

test.each(definitions)(
  '%s carries its own name as its code and says what to do next',
  (name, { code, advice, summary }) => {
    expect(code).toBe(name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase());
    expect(advice).toMatch(/\.$/);
    expect(summary).not.toMatch(/\.$/);
  },
);
