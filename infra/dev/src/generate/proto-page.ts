import { isDeepStrictEqual } from 'node:util';
import { callCatalogue } from '@flotilla/contracts/call-catalogue';
import {
  type Field,
  type ObjectShape,
  readShape,
  type Shape,
  type UnionShape,
} from '@flotilla/contracts/calls/read-shape';
import type { CallContract } from '@flotilla/contracts/define-call';
import { GENERATE_COMMAND, type Page } from './page.ts';

/** A declaration of the file by its name, and the shape it was made from, which must be one. */
type Declarations = Map<string, { readonly shape: Shape; readonly text: string }>;

/** The calls as protobuf: one service, one message for each request and answer, numbers as the contracts promise. */
export function protoPage(): Page {
  return { path: 'proto/flotilla/v1/flotilla.proto', content: renderProto(callCatalogue) };
}

export function renderProto(calls: readonly CallContract[]): string {
  const declared: Declarations = new Map();
  const methods = calls.map((call) => {
    const name = upperCamel(call.name);
    declare(readShape(call.request, `${name}Request`), declared);
    const response = readShape(call.response, `${name}Response`);
    declare(response, declared, `${name}Response`);
    const returns = call.kind === 'stream' ? `stream ${name}Response` : `${name}Response`;
    return [...comment(call.summary, '  '), `  rpc ${name}(${name}Request) returns (${returns});`].join('\n');
  });
  const messages = [...declared.entries()]
    .toSorted(([left], [right]) => left.localeCompare(right))
    .map(([, { text }]) => text);
  const usesJson = messages.some((text) => text.includes('google.protobuf.Value'));
  return `${[
    `// Generated from libs/contracts/src/call-catalogue.ts by "${GENERATE_COMMAND}".`,
    'syntax = "proto3";',
    'package flotilla.v1;',
    ...(usesJson ? ['import "google/protobuf/struct.proto";'] : []),
    `service FleetService {\n${methods.join('\n\n')}\n}`,
    ...messages,
  ].join('\n\n')}\n`;
}

function declare(
  shape: ObjectShape | UnionShape,
  declared: Declarations,
  name = shape.kind === 'object' ? shape.name : '',
): void {
  if (!isNew(name, shape, declared)) return;
  // Taken before its fields, so that a shape within itself ends.
  declared.set(name, { shape, text: '' });
  const lines =
    shape.kind === 'object'
      ? shape.fields.flatMap((field) => renderField(field, declared))
      : renderOneof(shape, declared);
  declared.set(name, {
    shape,
    text: lines.length === 0 ? `message ${name} {}` : `message ${name} {\n${lines.join('\n')}\n}`,
  });
}

function renderField(field: Field, declared: Declarations): readonly string[] {
  const { name, number, shape, description } = field;
  const isAbsent = field.nullable || (field.optional && !isEmptyList(field.defaultValue));
  return [...comment(description, '  '), `  ${typeOf(shape, isAbsent, declared)} ${lowerSnake(name)} = ${number};`];
}

/** proto3 reads an absent list as an empty one; every other default needs to be told from a zero. */
function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

function renderOneof({ tag, options }: UnionShape, declared: Declarations): readonly string[] {
  const members = options.map(({ value, number, shape }) => {
    declare(shape, declared);
    return `    ${shape.name} ${value} = ${number};`;
  });
  return [`  oneof ${lowerSnake(tag)} {`, ...members, '  }'];
}

function typeOf(shape: Shape, isAbsent: boolean, declared: Declarations): string {
  switch (shape.kind) {
    case 'array':
      return isAbsent ? listOf(shape.of, declared) : `repeated ${typeOf(shape.of, false, declared)}`;
    case 'map':
      return `map<string, ${typeOf(shape.of, false, declared)}>`;
    case 'object':
    case 'union':
    case 'enum':
    case 'json':
    case 'string':
    case 'integer':
    case 'boolean':
      return `${isAbsent ? 'optional ' : ''}${scalarOf(shape, declared)}`;
  }
}

function scalarOf(shape: Exclude<Shape, { readonly kind: 'array' | 'map' }>, declared: Declarations): string {
  switch (shape.kind) {
    case 'string':
      return 'string';
    case 'integer':
      return 'int64';
    case 'boolean':
      return 'bool';
    case 'json':
      return 'google.protobuf.Value';
    case 'enum':
      declareEnum(shape, declared);
      return shape.name;
    case 'object':
      declare(shape, declared);
      return shape.name;
    case 'union':
      throw new Error('a union is the whole of an answer, not a field');
  }
}

/** A list that may be absent needs a message of its own: absent and empty are not the same. */
function listOf(of: Shape, declared: Declarations): string {
  const item = typeOf(of, false, declared);
  const name = `${upperCamel(item)}List`;
  const shape: Shape = { kind: 'array', of };
  if (isNew(name, shape, declared))
    declared.set(name, { shape, text: `message ${name} {\n  repeated ${item} values = 1;\n}` });
  return `optional ${name}`;
}

/** Values are numbered by their place, so a new one goes to the end. */
function declareEnum(shape: Extract<Shape, { readonly kind: 'enum' }>, declared: Declarations): void {
  if (!isNew(shape.name, shape, declared)) return;
  const prefix = lowerSnake(shape.name).toUpperCase();
  const values = ['unspecified', ...shape.values].map(
    (value, index) => `  ${prefix}_${value.toUpperCase()} = ${index};`,
  );
  declared.set(shape.name, { shape, text: `enum ${shape.name} {\n${values.join('\n')}\n}` });
}

function isNew(name: string, shape: Shape, declared: Declarations): boolean {
  const known = declared.get(name);
  if (known === undefined) return true;
  if (!isDeepStrictEqual(known.shape, shape)) throw new Error(`two shapes have the name ${name}`);
  return false;
}

function comment(text: string | undefined, indent: string): readonly string[] {
  return text === undefined ? [] : [`${indent}// ${text.replace(/\s+/g, ' ')}`];
}

function upperCamel(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

function lowerSnake(name: string): string {
  return name.replace(/(?<!^)[A-Z]/g, (letter) => `_${letter}`).toLowerCase();
}
