import { type ErrorDefinition, statusOf } from '@flotilla/errors/flotilla-error';
import { z } from 'zod';
import { type CallContract, placeFields } from '../define-call.ts';
import { Problem, PROBLEM_MEDIA_TYPE } from '../problem.ts';
import { commonErrors } from './common-errors.ts';

type Json = Readonly<Record<string, unknown>>;

/** The OpenAPI 3.1 document of these calls. Throws when a call names an error that is not among `errors`. */
export function describeOpenApi(
  calls: readonly CallContract[],
  errors: readonly ErrorDefinition[],
  version: string,
): Json {
  const components = new Map<string, unknown>([['Problem', describeSchema(Problem, 'output').schema]]);
  const paths: Record<string, Record<string, unknown>> = {};
  for (const call of calls) {
    const operations = (paths[call.http.path] ??= {});
    operations[call.http.method.toLowerCase()] = describeCall(call, errors, components);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Flotilla',
      version,
      summary: 'A task becomes a planned, sandboxed, reviewed and landed change.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ token: [] }],
    paths,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      schemas: Object.fromEntries([...components].toSorted(([left], [right]) => left.localeCompare(right))),
    },
  };
}

function describeCall(call: CallContract, errors: readonly ErrorDefinition[], components: Map<string, unknown>): Json {
  const request = collect(call.request, 'input', components);
  const { path, query, body } = placeFields(call);
  const parameters = [
    ...path.map((name) => describeParameter(name, 'path', request)),
    ...query.map((name) => describeParameter(name, 'query', request)),
    ...describeHeaders(call),
  ];
  return {
    operationId: call.name,
    summary: call.summary,
    tags: [call.kind],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body.length === 0 ? {} : { requestBody: describeBody(call, body, request) }),
    responses: {
      200: describeAnswer(call, components),
      ...describeFailures([...call.errors, ...commonErrors], errors),
    },
  };
}

function describeParameter(name: string, place: 'path' | 'query', request: Json): Json {
  const { description, ...schema } = asObject(asObject(request['properties'])[name]);
  return {
    name,
    in: place,
    required: place === 'path' || namesIn(request['required']).includes(name),
    ...(description === undefined ? {} : { description }),
    schema,
  };
}

function describeHeaders(call: CallContract): readonly Json[] {
  if (call.http.idempotencyKey !== undefined) {
    const description = `Stands for ${call.http.idempotencyKey} where that is absent.`;
    return [{ name: 'Idempotency-Key', in: 'header', required: false, description, schema: { type: 'string' } }];
  }
  if (call.kind === 'stream') {
    const description = 'The id of the last event that was received; the stream goes on after it.';
    return [{ name: 'Last-Event-ID', in: 'header', required: false, description, schema: { type: 'integer' } }];
  }
  return [];
}

function describeBody(call: CallContract, fields: readonly string[], request: Json): Json {
  const properties = asObject(request['properties']);
  const required = namesIn(request['required']).filter((name) => fields.includes(name));
  const schema = {
    type: 'object',
    properties: Object.fromEntries(fields.map((name) => [name, properties[name]])),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  };
  const example = Object.fromEntries(Object.entries(call.example.request).filter(([name]) => fields.includes(name)));
  return { required: required.length > 0, content: { 'application/json': { schema, example } } };
}

function describeAnswer(call: CallContract, components: Map<string, unknown>): Json {
  const schema = collect(call.response, 'output', components);
  if (call.kind === 'stream') {
    const description = 'Server-sent events; the data of each is one line of JSON of this shape.';
    return { description, content: { 'text/event-stream': { schema } } };
  }
  return { description: 'Done.', content: { 'application/json': { schema, example: call.example.response } } };
}

function describeFailures(codes: readonly string[], errors: readonly ErrorDefinition[]): Json {
  const byStatus = new Map<number, ErrorDefinition[]>();
  for (const code of codes) {
    const definition = errors.find((error) => error.code === code);
    if (definition === undefined) throw new Error(`no error of the catalogue has the code ${code}`);
    byStatus.set(statusOf(definition), [...(byStatus.get(statusOf(definition)) ?? []), definition]);
  }
  const content = { [PROBLEM_MEDIA_TYPE]: { schema: { $ref: '#/components/schemas/Problem' } } };
  return Object.fromEntries(
    [...byStatus].map(([status, definitions]) => [
      status,
      { description: definitions.map(({ code, summary }) => `${code}: ${summary}.`).join(' '), content },
    ]),
  );
}

/** Moves the named shapes of a schema to the components and returns the rest. */
function collect(schema: z.ZodType, direction: 'input' | 'output', components: Map<string, unknown>): Json {
  const described = describeSchema(schema, direction);
  for (const [name, definition] of Object.entries(described.definitions)) components.set(name, definition);
  return described.schema;
}

function describeSchema(
  schema: z.ZodType,
  io: 'input' | 'output',
): { readonly schema: Json; readonly definitions: Json } {
  const { $defs, $schema: _, ...rest } = asObject(tidy(z.toJSONSchema(schema, { io, unrepresentable: 'any' }), io));
  return { schema: rest, definitions: asObject($defs) };
}

/** Keywords that say nothing to a client: protobuf numbers, the range of a double, zod's pattern of a date. */
function tidy(value: unknown, io: 'input' | 'output'): unknown {
  if (Array.isArray(value)) return value.map((item) => tidy(item, io));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(
    ([key, held]) =>
      !(key === 'field' && typeof held === 'number') &&
      !(key === 'json' && held === true) &&
      !(key === 'maximum' && held === Number.MAX_SAFE_INTEGER) &&
      !(key === 'pattern' && 'format' in value) &&
      // A client reads an answer tolerantly, so that a newer gateway may say more.
      !(io === 'output' && key === 'additionalProperties' && held === false),
  );
  return Object.fromEntries(
    entries.map(([key, held]) => [
      key,
      key === '$ref' && typeof held === 'string' ? held.replace('#/$defs/', '#/components/schemas/') : tidy(held, io),
    ]),
  );
}

function asObject(value: unknown): Json {
  // Only called on parts of a JSON document; whatever is no object counts as an empty one.
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

function namesIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
