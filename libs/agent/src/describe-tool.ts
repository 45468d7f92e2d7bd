import { z } from 'zod';
import type { Tool } from './define-tool.ts';
import type { ModelTool } from './ports.ts';
import { toModelName } from './tool-names.ts';

/** A tool as a provider is told of it. */
export function toModelTool(tool: Tool): ModelTool {
  return { name: toModelName(tool.id), description: tool.summary, parameters: jsonSchema(tool) };
}

/** `fs__read(path: string, offset?: integer)`: what an invalid call is answered with. */
export function signatureOf(tool: Tool): string {
  const { properties, required } = jsonSchema(tool);
  const names = isRecord(properties) ? Object.entries(properties) : [];
  const parameters = names.map(([name, schema]) => {
    const optional = Array.isArray(required) && required.includes(name) ? '' : '?';
    return `${name}${optional}: ${typeOf(schema)}`;
  });
  return `${toModelName(tool.id)}(${parameters.join(', ')})`;
}

function jsonSchema(tool: Tool): Readonly<Record<string, unknown>> {
  const { $schema: _dialect, ...schema } = z.toJSONSchema(tool.parameters, { io: 'input' });
  return schema;
}

function typeOf(schema: unknown): string {
  if (!isRecord(schema)) return 'any';
  if (Array.isArray(schema['enum'])) return schema['enum'].map((value) => JSON.stringify(value)).join(' | ');
  return typeof schema['type'] === 'string' ? schema['type'] : 'any';
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
