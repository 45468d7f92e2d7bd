import { expect, test } from 'vitest';
import { z } from 'zod';
import { callCatalogue } from '../call-catalogue.ts';
import { placeFields } from '../define-call.ts';
import { readShape } from './read-shape.ts';

const table = callCatalogue.map((call) => [call.name, call] as const);

test.each(table)('%s is made of the subset that every transport can carry', (_, call) => {
  readShape(call.request, `${call.name}Request`);
  readShape(call.response, `${call.name}Response`);
});

test.each(table)('%s parses its own example', (_, call) => {
  expect(call.request.safeParse(call.example.request).error).toBeUndefined();
  expect(call.response.safeParse(call.example.response).error).toBeUndefined();
});

test.each(table)('%s refuses a field nobody listed', (_, call) => {
  expect(call.request.safeParse({ ...call.example.request, priority: 1 }).success).toBe(false);
});

test.each(table)('%s finds every name of its path among the fields of its request', (_, call) => {
  for (const name of placeFields(call).path) expect(Object.keys(call.request.shape)).toContain(name);
});

test('no two calls share a method and path', () => {
  const routes = callCatalogue.map(({ http }) => `${http.method} ${http.path.replace(/\{\w+\}/g, '{}')}`);
  expect(new Set(routes).size).toBe(callCatalogue.length);
});

const one = { field: 1 };

test.each<[string, z.ZodType, RegExp]>([
  ['a number that is not whole', z.object({ a: z.number().meta(one) }), /a number is z\.int/],
  ['a field without a number', z.object({ a: z.string() }), /a: give it \.meta/],
  ['a number of protobuf itself', z.object({ a: z.string().meta({ field: 19_500 }) }), /a: give it \.meta/],
  ['two fields with one number', z.object({ a: z.string().meta(one), b: z.string().meta(one) }), /the number 1/],
  ['an object without a name', z.object({ a: z.object({}).meta(one) }), /name it/],
  ['a list of objects without a name', z.object({ a: z.array(z.object({})).meta(one) }), /name it/],
  ['an enum without a name', z.object({ a: z.enum(['x']).meta(one) }), /name it/],
  ['a union without a tag', z.object({ a: z.union([z.string(), z.int()]).meta(one) }), /has a tag/],
  ['a transformation', z.object({ a: z.string().transform(Number).meta(one) }), /pipe is not in the subset/],
  ['a date', z.object({ a: z.date().meta(one) }), /date is not in the subset/],
  ['a value of any kind that is not declared as JSON', z.object({ a: z.unknown().meta(one) }), /unknown is not in/],
  ['a tuple', z.object({ a: z.tuple([z.string()]).meta(one) }), /tuple is not in the subset/],
  [
    'a member of a union without a number',
    z.discriminatedUnion('t', [z.object({ t: z.literal('x') }).meta({ id: 'X' })]),
    /x: give it \.meta/,
  ],
])('%s is refused', (_, schema, message) => {
  expect(() => readShape(schema, 'Example')).toThrow(message);
});

test('a field keeps the name, description and number of the shapes it wraps', () => {
  const Colour = z.enum(['red', 'green']).meta({ id: 'Colour', description: 'A colour.' });
  const shape = readShape(z.object({ a: Colour.nullable().default('red').meta({ field: 3 }) }), 'Example');
  expect(shape).toEqual({
    kind: 'object',
    name: 'Example',
    fields: [
      {
        name: 'a',
        number: 3,
        shape: { kind: 'enum', name: 'Colour', values: ['red', 'green'] },
        optional: true,
        nullable: true,
        defaultValue: 'red',
        description: 'A colour.',
      },
    ],
  });
});

test('a tagged union reads as its members by tag', () => {
  const shape = readShape(
    z.discriminatedUnion('t', [
      z.object({ t: z.literal('x'), a: z.string().meta(one) }).meta({ id: 'X', field: 1 }),
      z.object({ t: z.literal('y') }).meta({ id: 'Y', field: 2 }),
    ]),
    'Example',
  );
  expect(shape).toMatchObject({
    kind: 'union',
    tag: 't',
    options: [
      { value: 'x', number: 1 },
      { value: 'y', number: 2 },
    ],
  });
});
