import { globalRegistry, type z } from 'zod';

/** What a call may be made of, read out of its zod schema: everything that HTTP, protobuf and a command line share. */
export type Shape =
  | { readonly kind: 'string' | 'integer' | 'boolean' | 'json' }
  | { readonly kind: 'enum'; readonly name: string; readonly values: readonly string[] }
  | { readonly kind: 'array' | 'map'; readonly of: Shape }
  | ObjectShape
  | UnionShape;

export interface ObjectShape {
  readonly kind: 'object';
  readonly name: string;
  readonly fields: readonly Field[];
}

export interface UnionShape {
  readonly kind: 'union';
  readonly tag: string;
  readonly options: readonly { readonly value: string; readonly number: number; readonly shape: ObjectShape }[];
}

export interface Field {
  readonly name: string;
  /** Protobuf number. */
  readonly number: number;
  readonly shape: Shape;
  /** May be left out. */
  readonly optional: boolean;
  /** May be null. */
  readonly nullable: boolean;
  readonly defaultValue?: unknown;
  readonly description?: string;
}

/**
 * Reads a request or response. Throws a plain Error that names the place for every shape outside the subset, a field
 * without a number, two fields with one, and an object or enum without a name.
 */
export function readShape(schema: z.core.$ZodType, name: string): ObjectShape | UnionShape {
  const shape = read(schema, name, name);
  if (shape.kind !== 'object' && shape.kind !== 'union') throw new Error(`${name}: a call is made of an object`);
  return shape;
}

function read(given: z.core.$ZodType, at: string, name?: string): Shape {
  const schema = asKnown(given);
  const meta = metaOf(given);
  if (meta['json'] === true) return { kind: 'json' };
  const { def } = schema._zod;
  switch (def.type) {
    case 'string':
      return { kind: 'string' };
    case 'boolean':
      return { kind: 'boolean' };
    case 'number':
      if ('format' in def && def.format === 'safeint') return { kind: 'integer' };
      throw new Error(`${at}: a number is z.int()`);
    case 'enum':
      return { kind: 'enum', name: name ?? nameOf(meta, at), values: Object.values(def.entries).map(String) };
    case 'array':
      return { kind: 'array', of: read(def.element, `${at}[]`) };
    case 'record':
      return { kind: 'map', of: read(def.valueType, `${at}{}`) };
    case 'object':
      return readObject(def.shape, at, name ?? nameOf(meta, at));
    case 'union':
      return readUnion(def, at);
    default:
      throw new Error(`${at}: ${def.type} is not in the subset of calls`);
  }
}

function readObject(shape: Readonly<Record<string, z.core.$ZodType>>, at: string, name: string): ObjectShape {
  const fields = Object.entries(shape).flatMap(([field, schema]) =>
    // The tag of a union's member is told by the member itself.
    asKnown(schema)._zod.def.type === 'literal' ? [] : [readField(field, schema, `${at}.${field}`)],
  );
  refuseSharedNumbers(at, fields);
  return { kind: 'object', name, fields };
}

function readField(name: string, schema: z.core.$ZodType, at: string): Field {
  const field = unwrap(schema);
  const number = field.meta['field'];
  if (!isFieldNumber(number)) throw new Error(`${at}: give it .meta({ field: n })`);
  const description = field.meta['description'];
  return {
    name,
    number,
    shape: read(field.inner, at),
    optional: field.optional,
    nullable: field.nullable,
    ...('defaultValue' in field ? { defaultValue: field.defaultValue } : {}),
    ...(typeof description === 'string' ? { description } : {}),
  };
}

interface Unwrapped {
  readonly inner: z.core.$ZodType;
  readonly meta: Readonly<Record<string, unknown>>;
  readonly optional: boolean;
  readonly nullable: boolean;
  readonly defaultValue?: unknown;
}

/** Takes optional, nullable and default off; what an outer layer says wins over an inner one. */
function unwrap(schema: z.core.$ZodType): Unwrapped {
  const meta = metaOf(schema);
  const { def } = asKnown(schema)._zod;
  if (def.type !== 'optional' && def.type !== 'nullable' && def.type !== 'default') {
    return { inner: schema, meta, optional: false, nullable: false };
  }
  const below = unwrap(def.innerType);
  return {
    ...below,
    meta: { ...below.meta, ...meta },
    optional: below.optional || def.type !== 'nullable',
    nullable: below.nullable || def.type === 'nullable',
    ...(def.type === 'default' ? { defaultValue: def.defaultValue } : {}),
  };
}

function readUnion(def: z.core.$ZodUnionDef, at: string): UnionShape {
  const tag = 'discriminator' in def ? def.discriminator : undefined;
  if (typeof tag !== 'string') throw new Error(`${at}: a union has a tag (z.discriminatedUnion)`);
  const options = def.options.map((option) => {
    const { inner, meta } = unwrap(option);
    const number = meta['field'];
    const { def: member } = asKnown(inner)._zod;
    const literal = member.type === 'object' ? member.shape[tag] : undefined;
    const values = literal === undefined ? [] : literalsOf(literal);
    const [value] = values;
    if (typeof value !== 'string' || values.length !== 1)
      throw new Error(`${at}: a member is an object with one ${tag}`);
    if (!isFieldNumber(number)) throw new Error(`${at}.${value}: give it .meta({ field: n })`);
    const shape = read(inner, `${at}.${value}`);
    if (shape.kind !== 'object') throw new Error(`${at}.${value}: a member of a union is an object`);
    return { value, number, shape };
  });
  refuseSharedNumbers(at, options);
  return { kind: 'union', tag, options };
}

function refuseSharedNumbers(at: string, fields: readonly { readonly number: number }[]): void {
  const numbers = fields.map(({ number }) => number);
  const twice = numbers.find((number, index) => numbers.indexOf(number) !== index);
  if (twice !== undefined) throw new Error(`${at}: two fields have the number ${String(twice)}`);
}

function literalsOf(schema: z.core.$ZodType): readonly unknown[] {
  const { def } = asKnown(schema)._zod;
  return def.type === 'literal' ? def.values : [];
}

function isFieldNumber(value: unknown): value is number {
  // 19000 to 19999 belong to protobuf itself.
  return typeof value === 'number' && Number.isInteger(value) && value > 0 && (value < 19_000 || value > 19_999);
}

function nameOf(meta: Readonly<Record<string, unknown>>, at: string): string {
  if (typeof meta['id'] === 'string') return meta['id'];
  throw new Error(`${at}: name it with .meta({ id })`);
}

/** The base class does not tell its kinds apart; every schema that zod makes is one of these. */
function asKnown(schema: z.core.$ZodType): z.core.$ZodTypes {
  return schema as z.core.$ZodTypes;
}

/** Descriptions, numbers and names hang on the schema itself and on those it was cloned from. */
function metaOf(schema: z.core.$ZodType): Readonly<Record<string, unknown>> {
  const own = globalRegistry.get(schema);
  const parent = schema._zod.parent;
  // The registry leaves a parent's id out for its clones; here a renumbered shape keeps its name.
  return { ...(parent === undefined ? {} : metaOf(parent)), ...own };
}
