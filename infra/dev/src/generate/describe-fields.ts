import { z } from 'zod';
import { code, renderTable } from './page.ts';

type JsonSchema = Readonly<Record<string, unknown>>;

/** A table of the fields of an object: name, type, whether it is needed, meaning. Nested objects are told by their name. */
export function describeFields(schema: z.ZodObject): string {
  const described = asSchema(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', reused: 'inline' }));
  const required = Array.isArray(described['required']) ? described['required'] : [];
  const rows = Object.entries(asSchema(described['properties'])).map(([name, given]) => {
    const field = asSchema(given);
    const need = required.includes(name)
      ? ''
      : 'default' in field
        ? `default ${code(JSON.stringify(field['default']))}`
        : 'optional';
    return [code(name), typeOf(field), need, typeof field['description'] === 'string' ? field['description'] : ''];
  });
  return rows.length === 0 ? 'No fields.' : renderTable(['Field', 'Type', '', 'Meaning'], rows);
}

function typeOf(schema: JsonSchema): string {
  if ('const' in schema) return code(JSON.stringify(schema['const']));
  if (Array.isArray(schema['enum'])) return schema['enum'].map((value) => code(String(value))).join(', ');
  const options = schema['anyOf'] ?? schema['oneOf'];
  if (Array.isArray(options)) return [...new Set(options.map((option) => typeOf(asSchema(option))))].join(' or ');
  if (typeof schema['$ref'] === 'string') return schema['$ref'].split('/').at(-1) ?? 'object';
  switch (schema['type']) {
    case 'array':
      return `list of ${typeOf(asSchema(schema['items']))}`;
    case 'object':
      return objectType(schema);
    case undefined:
      return 'anything';
    default:
      return String(schema['type']);
  }
}

/** The tag of a tagged union's member names it; a map is told by what it holds. */
function objectType(schema: JsonSchema): string {
  const tag = Object.values(asSchema(schema['properties']))
    .map(asSchema)
    .find((field) => 'const' in field);
  if (tag !== undefined) return `object ${code(String(tag['const']))}`;
  return 'propertyNames' in schema ? `map to ${typeOf(asSchema(schema['additionalProperties']))}` : 'object';
}

function asSchema(value: unknown): JsonSchema {
  // Only asked of parts of a JSON schema; whatever is no object counts as an empty one.
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonSchema) : {};
}
