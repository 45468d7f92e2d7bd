import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { type ModelSettings, parseModelSettings } from '@flotilla/model/model-settings';
import { redact } from '@flotilla/model/redact';
import { z } from 'zod';
import { fail, note, pass } from './check.ts';
import type { Check, DoctorContext, Finding } from './check.ts';

const patienceMs = 5_000;
const Models = z.object({ data: z.array(z.object({ id: z.string() })) });

export function modelChecks({ environment }: DoctorContext): readonly Check[] {
  return [{ id: 'model', title: 'model', run: () => checkModel(environment) }];
}

/**
 * Whether the endpoint of the configured model answers, takes the key and knows the model. Asks what models there are, which costs
 * nothing. The key goes to that endpoint alone and into no finding.
 */
export async function checkModel(environment: DoctorContext['environment'], limitMs = patienceMs): Promise<Finding> {
  try {
    return await askEndpoint(parseModelSettings(environment), AbortSignal.timeout(limitMs), limitMs);
  } catch (error) {
    if (!(error instanceof FlotillaError)) throw error;
    if (error.is(errors.modelNotConfigured))
      return note('none is configured', `${error.advice} Steps that need one fail until then.`);
    return fail(error.message, error.advice);
  }
}

async function askEndpoint(settings: ModelSettings, signal: AbortSignal, limitMs: number): Promise<Finding> {
  const { provider, model, baseUrl, apiKey } = settings;
  const details = { provider, model, address: baseUrl };
  const ask = async (path: string) => {
    try {
      // A redirect would carry the key to another host.
      const response = await fetch(`${baseUrl}/${path}`, {
        headers: writeHeaders(settings),
        redirect: 'manual',
        signal,
      });
      return { status: response.status, text: await response.text() };
    } catch (cause) {
      const reason = signal.aborted ? `it said nothing for ${limitMs / 1000} s` : describeCause(cause);
      throw new FlotillaError(errors.modelUnreachable, { ...details, reason: redact(reason, apiKey) }, { cause });
    }
  };
  const { status, text } = await ask(provider === 'anthropic' ? 'models?limit=1000' : 'models');
  const reason = redact(text, apiKey) || `status ${status}`;
  if (status === 401 || status === 403) throw new FlotillaError(errors.modelCredentialRefused, { ...details, reason });
  if (status === 404 || status === 405)
    return note(
      `${baseUrl} answers and lists no models, so ${model} was not looked for`,
      'Where steps fail too, correct its address, which mostly ends with /v1.',
    );
  if (status >= 500) throw new FlotillaError(errors.modelServerFailed, { ...details, status, reason });
  const ids = readIds(text);
  if (status !== 200 || ids === undefined)
    throw new FlotillaError(errors.modelAnswerUnreadable, { ...details, reason });
  // Of names that stand for others the list knows nothing.
  const known = ids.includes(model) || ids.includes(`${model}:latest`);
  if (known || (await ask(`models/${encodeURIComponent(model)}`)).status === 200)
    return pass(`${provider} at ${baseUrl} answers and has ${model}`);
  throw new FlotillaError(errors.modelUnknown, { ...details, reason: `it has ${redact(listSome(ids), apiKey)}` });
}

function writeHeaders({ provider, apiKey }: ModelSettings): Record<string, string> {
  const key = apiKey?.reveal();
  if (provider === 'anthropic') return { 'anthropic-version': '2023-06-01', 'x-api-key': key ?? 'none' };
  return key === undefined ? {} : { authorization: `Bearer ${key}` };
}

function readIds(text: string): readonly string[] | undefined {
  try {
    return Models.parse(JSON.parse(text)).data.map(({ id }) => id);
  } catch {
    return undefined;
  }
}

function listSome(ids: readonly string[]): string {
  if (ids.length === 0) return 'none';
  return ids.length > 8 ? `${ids.slice(0, 8).join(', ')} and ${ids.length - 8} more` : ids.join(', ');
}

/** What the network says is in the cause of what fetch throws. */
function describeCause(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof Error) return 'code' in cause ? String(cause.code) : cause.message;
  return error instanceof Error ? error.message : String(error);
}
