import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { callCatalogue } from '@flotilla/contracts/call-catalogue';
import { catalogue } from '@flotilla/contracts/catalogue';
import { defineCall } from '@flotilla/contracts/define-call';
import { eventCatalogue } from '@flotilla/contracts/log-entry';
import { settings } from '@flotilla/contracts/settings';
import { errors } from '@flotilla/errors/catalogue';
import { verbs } from '@flotilla/cli/verbs';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { renderTable } from './page.ts';
import { createPages, findStale } from './pages.ts';
import { renderProto } from './proto-page.ts';

const pages = await createPages();
const contentOf = (name: string) => pages.find(({ path }) => path.endsWith(name))?.content ?? '';

test.each([
  ['messages.md', catalogue.map(({ name }) => `## ${name}`)],
  ['events.md', eventCatalogue.map(({ type }) => `## ${type}`)],
  ['calls.md', callCatalogue.map(({ name }) => `## ${name}`)],
  ['errors.md', Object.values(errors).map(({ code }) => `\`${code}\``)],
  ['settings.md', Object.values(settings).map(({ variable }) => `\`${variable}\``)],
  ['cli.md', verbs.map(({ name }) => `## flotilla ${name}`)],
  ['topologies.md', ['## feature_builder', '## quick_fix']],
  ['openapi.json', callCatalogue.map(({ name }) => `"operationId": "${name}"`)],
  ['flotilla.proto', callCatalogue.map(({ name }) => `rpc ${name.charAt(0).toUpperCase()}${name.slice(1)}(`)],
])('%s has everything there is', (name, expected) => {
  for (const part of expected) expect(contentOf(name)).toContain(part);
});

test('no page holds what nobody can read', () => {
  for (const { content } of pages) expect(content).not.toMatch(/undefined|\[object Object\]|NaN/);
});

test('a page that was edited or is missing is stale', async () => {
  const root = await mkdtemp(join(tmpdir(), 'flotilla-pages-'));
  try {
    for (const { path, content } of pages.slice(1)) {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), path.endsWith('errors.md') ? `${content}edited` : content);
    }
    expect((await findStale(pages, root)).map(({ path }) => path)).toEqual([
      'infra/reference/messages.md',
      'infra/reference/errors.md',
    ]);
  } finally {
    await rm(root, { recursive: true });
  }
});

test('a cell cannot break its table', () => {
  expect(renderTable(['a'], [['x | y\nz']])).toBe('| a |\n| --- |\n| x \\| y z |');
});

const example = { request: {}, response: {} };
const call = (request: z.ZodObject, response: z.ZodType = z.object({})) =>
  defineCall({
    name: 'tryIt',
    kind: 'query',
    servedBy: 'gateway',
    roles: ['read'],
    summary: 'Tries it.',
    http: { method: 'GET', path: '/v1/it' },
    request,
    response,
    errors: [],
    example,
  });

test('a field has the number that its contract promises, and presence where absent is not zero', () => {
  const Colour = z.enum(['red', 'dark_blue']).meta({ id: 'Colour' });
  const proto = renderProto([
    call(
      z.strictObject({
        someName: z.string().meta({ field: 7, description: 'Told.' }),
        count: z.int().default(5).meta({ field: 3 }),
        colour: Colour.optional().meta({ field: 9 }),
        maybe: z.boolean().nullable().meta({ field: 1 }),
        list: z.array(z.string()).default([]).meta({ field: 2 }),
        absent: z.array(z.string()).optional().meta({ field: 4 }),
        labels: z.record(z.string(), z.string()).meta({ field: 5 }),
        anything: z.unknown().meta({ field: 6, json: true }),
      }),
    ),
  ]);
  expect(proto).toContain(`message TryItRequest {
  // Told.
  string some_name = 7;
  optional int64 count = 3;
  optional Colour colour = 9;
  optional bool maybe = 1;
  repeated string list = 2;
  optional StringList absent = 4;
  map<string, string> labels = 5;
  google.protobuf.Value anything = 6;
}`);
  expect(proto).toContain('enum Colour {\n  COLOUR_UNSPECIFIED = 0;\n  COLOUR_RED = 1;\n  COLOUR_DARK_BLUE = 2;\n}');
  expect(proto).toContain('message StringList {\n  repeated string values = 1;\n}');
});

test('a tagged union is a oneof', () => {
  const response = z.discriminatedUnion('event', [
    z.object({ event: z.literal('first'), a: z.string().meta({ field: 1 }) }).meta({ id: 'First', field: 1 }),
    z.object({ event: z.literal('last') }).meta({ id: 'Last', field: 4 }),
  ]);
  expect(renderProto([{ ...call(z.strictObject({}), response), kind: 'stream' }])).toContain(
    'message TryItResponse {\n  oneof event {\n    First first = 1;\n    Last last = 4;\n  }\n}',
  );
});

test('two shapes with one name fail the build', () => {
  const one = z.object({ a: z.string().meta({ field: 1 }) }).meta({ id: 'Same' });
  const other = z.object({ a: z.int().meta({ field: 1 }) }).meta({ id: 'Same' });
  const both = z.strictObject({ one: one.meta({ field: 1, id: 'Same' }), other: other.meta({ field: 2, id: 'Same' }) });
  expect(() => renderProto([call(both)])).toThrow('two shapes have the name Same');
});
