import { readShape, type Field, type Shape } from '@flotilla/contracts/calls/read-shape';
import { type CallContract, placeFields } from '@flotilla/contracts/define-call';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import type { z } from 'zod';

export interface RawRequest {
  readonly path: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: unknown;
  readonly idempotencyKey?: string | undefined;
}

interface Violation {
  readonly path: string;
  readonly message: string;
}

const shownViolations = 20;
const shownCharacters = 200;

/** What a request says, as the call defines it. Throws REQUEST_INVALID with every violation, or as many as are shown. */
export function readRequest(call: CallContract, raw: RawRequest): Readonly<Record<string, unknown>> {
  const given = gather(call, raw);
  const unstorable = findUnstorable(given, '');
  if (unstorable !== undefined) throw invalid(call, [unstorable]);
  const parsed = call.request.safeParse(given);
  if (!parsed.success) throw invalid(call, parsed.error.issues.map(describeIssue));
  return parsed.data;
}

function gather(call: CallContract, raw: RawRequest): Readonly<Record<string, unknown>> {
  const places = placeFields(call);
  const foreign = places.body.length === 0 ? raw.body : raw.query;
  if (!isObject(raw.body)) throw invalid(call, [{ path: '', message: 'the body is an object' }]);
  if (isObject(foreign) && Object.keys(foreign).length > 0) {
    const message = places.body.length === 0 ? 'this call has no body' : 'this call has no query';
    throw invalid(
      call,
      Object.keys(foreign).map((path) => ({ path, message })),
    );
  }
  const shape = readShape(call.request, call.name);
  const fields = shape.kind === 'object' ? shape.fields : [];
  const own = places.body.length === 0 ? readTexts(raw.query, fields) : raw.body;
  for (const name of places.path) {
    if (Object.hasOwn(own, name)) throw invalid(call, [{ path: name, message: 'it stands in the path already' }]);
  }
  return withIdempotencyKey(call, { ...own, ...readTexts(raw.path, fields) }, raw.idempotencyKey);
}

/** A query and a path hold texts only; numbers, booleans and lists are read out of them, anything else is left to fail. */
function readTexts(texts: Readonly<Record<string, unknown>>, fields: readonly Field[]): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(texts).map(([name, value]) => {
      const shape = fields.find((field) => field.name === name)?.shape;
      if (shape?.kind !== 'array') return [name, readText(value, shape)];
      const items: readonly unknown[] = Array.isArray(value) ? value : [value];
      return [name, items.map((item) => readText(item, shape.of))];
    }),
  );
}

function readText(value: unknown, shape: Shape | undefined): unknown {
  if (shape?.kind === 'integer' && typeof value === 'string' && /^-?\d{1,16}$/.test(value)) return Number(value);
  if (shape?.kind === 'boolean' && (value === 'true' || value === 'false')) return value === 'true';
  return value;
}

/** The header may be a quoted string (as the IETF draft writes it) or the bare key. */
function withIdempotencyKey(
  call: CallContract,
  given: Readonly<Record<string, unknown>>,
  header: string | undefined,
): Readonly<Record<string, unknown>> {
  const name = call.http.idempotencyKey;
  if (name === undefined || header === undefined) return given;
  const key = header.replace(/^"(.*)"$/, '$1');
  if (given[name] === undefined) return { ...given, [name]: key };
  if (given[name] === key) return given;
  throw invalid(call, [{ path: name, message: 'it differs from the header Idempotency-Key' }]);
}

/** Postgres stores neither NUL nor half a surrogate pair in a text. */
function findUnstorable(value: unknown, path: string): Violation | undefined {
  if (typeof value === 'string') {
    const storable = value.isWellFormed() && !value.includes('\0');
    return storable ? undefined : { path, message: 'it has a NUL or half a character' };
  }
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, held] of Object.entries(value)) {
    const found = findUnstorable(key, path) ?? findUnstorable(held, path === '' ? key : `${path}.${key}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

function describeIssue(issue: z.core.$ZodIssue): Violation {
  return { path: issue.path.join('.'), message: issue.message };
}

function invalid(call: CallContract, violations: readonly Violation[]): FlotillaError {
  const shown = violations
    .slice(0, shownViolations)
    .map(({ path, message }) => ({ path: path.slice(0, shownCharacters), message: message.slice(0, shownCharacters) }));
  const [first] = shown;
  const reason = first === undefined ? '' : first.path === '' ? first.message : `${first.path}: ${first.message}`;
  return new FlotillaError(errors.requestInvalid, { call: call.name, reason, violations: shown });
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
