import { expect, test } from 'vitest';
import { z } from 'zod';
import { callCatalogue } from './call-catalogue.ts';
import { readShape, type Shape } from './calls/read-shape.ts';
import { catalogue } from './catalogue.ts';
import { DeadLetterRecord } from './dead-letter.ts';
import { eventCatalogue, LogEntry } from './log-entry.ts';
import { Problem } from './problem.ts';
import { settings } from './settings.ts';
import type { SettingDefinition } from './define-setting.ts';

type JsonSchema = Readonly<Record<string, unknown>>;

/** Fields, also nested ones, that say what they are by their name alone. The tag of a union's member is a constant. */
function findUntold(schema: unknown, at: string): readonly string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const { properties = {}, items, additionalProperties, ...rest } = schema as JsonSchema;
  const fields = Object.entries(properties as Readonly<Record<string, JsonSchema>>);
  return [
    ...fields
      .filter(([, field]) => !('const' in field) && !isTold(field['description']))
      .map(([name]) => `${at}.${name}`),
    ...fields.flatMap(([name, field]) => findUntold(field, `${at}.${name}`)),
    ...findUntold(items, `${at}[]`),
    ...findUntold(additionalProperties, `${at}{}`),
    ...[rest['anyOf'], rest['oneOf']].flatMap((options) =>
      Array.isArray(options) ? options.flatMap((option) => findUntold(option, at)) : [],
    ),
  ];
}

function isTold(description: unknown): boolean {
  return typeof description === 'string' && /^\S.*\.$/s.test(description);
}

const jsonSchema = (schema: z.ZodType) =>
  z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', reused: 'inline' });

test.each([
  ...catalogue.map(({ name, payload }) => [name, payload] as const),
  ...eventCatalogue.map(({ type, payload }) => [type, payload] as const),
  ['an entry of the log', LogEntry] as const,
  ['a dead letter', DeadLetterRecord] as const,
  ['a problem', Problem] as const,
])('every field of %s says what it means', (name, schema) => {
  expect(findUntold(jsonSchema(schema), name)).toEqual([]);
});

function findUntoldOfCall(shape: Shape, at: string): readonly string[] {
  switch (shape.kind) {
    case 'object':
      return shape.fields.flatMap((field) => [
        ...(isTold(field.description) ? [] : [`${at}.${field.name}`]),
        ...findUntoldOfCall(field.shape, `${at}.${field.name}`),
      ]);
    case 'union':
      return shape.options.flatMap((option) => findUntoldOfCall(option.shape, `${at}.${option.value}`));
    case 'array':
    case 'map':
      return findUntoldOfCall(shape.of, `${at}[]`);
    case 'enum':
    case 'string':
    case 'integer':
    case 'boolean':
    case 'json':
      return [];
  }
}

test.each(callCatalogue.map((call) => [call.name, call] as const))(
  'every field of the call %s says what it means',
  (name, { request, response }) => {
    const shapes = [readShape(request, `${name}Request`), readShape(response, `${name}Response`)];
    expect(shapes.flatMap((shape) => findUntoldOfCall(shape, shape.kind === 'object' ? shape.name : name))).toEqual([]);
  },
);

test.each(Object.values<SettingDefinition>(settings).map((setting) => [setting.variable, setting.summary]))(
  'the setting %s says what it means',
  (_, summary) => {
    expect(isTold(summary)).toBe(true);
  },
);
