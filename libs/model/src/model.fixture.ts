import { inspect } from 'node:util';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { hastyClock, patientLimits } from './clock.fixture.ts';
import { createModel, type ModelOptions } from './create-model.ts';
import type { Endpoint } from './endpoint.fixture.ts';
import type { Model, ModelPart, ModelRequest } from './model.ts';

export const question: ModelRequest = {
  system: 'Be brief.',
  messages: [{ role: 'user', text: 'Hello' }],
  tools: [
    {
      name: 'fs_read',
      description: 'Reads.',
      parameters: { type: 'object', properties: { path: { type: 'string' } } },
    },
  ],
};

/** A model at the endpoint whose waits are over at once. */
export function modelAt(endpoint: Endpoint, options: Partial<ModelOptions> = {}): Model {
  return createModel({
    provider: 'compatible',
    model: 'asked-model',
    baseUrl: endpoint.url,
    clock: hastyClock(),
    random: () => 0,
    timeLimits: patientLimits,
    ...options,
  });
}

export async function collect(model: Model, request: ModelRequest = question): Promise<ModelPart[]> {
  const parts: ModelPart[] = [];
  for await (const part of model.stream(request)) parts.push(part);
  return parts;
}

/** The failure that an answer ends with; throws where it ends well, or with an error that is none of ours. */
export async function failureOf(model: Model, request: ModelRequest = question): Promise<FlotillaError> {
  const error: unknown = await collect(model, request).catch((thrown: unknown) => thrown);
  if (error instanceof FlotillaError) return error;
  throw new Error(`expected one of our errors, got ${inspect(error)}`);
}
