import type { ErrorDefinition } from '@flotilla/errors/flotilla-error';
import { expect, test } from 'vitest';
import { callCatalogue } from '../call-catalogue.ts';
import { commonErrors } from './common-errors.ts';
import { describeOpenApi } from './describe-open-api.ts';

/** Stands for the catalogue; that the real one has every code is the gateway's test. */
const everyError: readonly ErrorDefinition[] = [
  ...new Set([...callCatalogue.flatMap(({ errors }) => errors), ...commonErrors]),
].map((code) => ({ code, remedy: 'caller', summary: code, advice: 'Do.' }));

const document = describeOpenApi(callCatalogue, everyError, '0.0.0');
const text = JSON.stringify(document);

test('every call is an operation under its path and method', () => {
  const operations = Object.values(document['paths'] as Record<string, Record<string, { operationId: string }>>)
    .flatMap((methods) => Object.values(methods))
    .map(({ operationId }) => operationId);
  expect(operations.toSorted()).toEqual(callCatalogue.map(({ name }) => name).toSorted());
});

test('every reference leads to a component', () => {
  const components = (document['components'] as { schemas: Record<string, unknown> }).schemas;
  const references = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, reference]) => reference);
  expect(references.length).toBeGreaterThan(10);
  for (const reference of references) {
    expect(reference).toMatch(/^#\/components\/schemas\//);
    expect(Object.keys(components)).toContain(reference?.split('/').at(-1));
  }
});

test('protobuf numbers stay out of the document', () => {
  expect(text).not.toContain('"field":');
  expect(text).not.toContain('$defs');
});

test('a code that the catalogue does not have fails the build', () => {
  expect(() => describeOpenApi(callCatalogue, [], '0.0.0')).toThrow(/no error of the catalogue has the code/);
});
