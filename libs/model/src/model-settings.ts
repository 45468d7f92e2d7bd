import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { SecretKey } from './secret-key.ts';

export type ModelProvider = 'openai' | 'anthropic' | 'compatible';

export interface ModelSettings {
  readonly provider: ModelProvider;
  readonly model: string;
  /** Without a trailing slash, for example https://api.openai.com/v1. */
  readonly baseUrl: string;
  readonly apiKey?: SecretKey;
}

/** The values of the environment variables of these names; the caller reads the environment. */
export interface ModelSettingValues {
  readonly FLOTILLA_MODEL?: string | undefined;
  readonly FLOTILLA_MODEL_URL?: string | undefined;
  readonly FLOTILLA_MODEL_KEY?: string | undefined;
  readonly OPENAI_API_KEY?: string | undefined;
  readonly ANTHROPIC_API_KEY?: string | undefined;
}

export const officialBaseUrls = {
  openai: 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com/v1',
} as const;

const addressForm = 'does not begin with http:// or https:// and a host';

const keySettings = { openai: 'OPENAI_API_KEY', anthropic: 'ANTHROPIC_API_KEY' } as const;

/**
 * Reads `openai:MODEL`, `anthropic:MODEL`, `compatible:MODEL@URL` or `compatible:MODEL` with FLOTILLA_MODEL_URL, which
 * also overrides the address of the first two. A compatible endpoint is only ever given FLOTILLA_MODEL_KEY, so a
 * provider's own key never travels to somebody else's host. Throws MODEL_NOT_CONFIGURED, MODEL_SETTING_INVALID, MODEL_KEY_MISSING.
 */
export function parseModelSettings(values: ModelSettingValues): ModelSettings {
  const text = values.FLOTILLA_MODEL?.trim() ?? '';
  if (text === '') throw new FlotillaError(errors.modelNotConfigured);
  const separator = text.indexOf(':');
  const provider = text.slice(0, separator);
  const rest = text.slice(separator + 1);
  if (separator < 1 || !isProvider(provider)) throw invalid('FLOTILLA_MODEL', `"${text}" names no known provider`);
  return provider === 'compatible' ? readCompatible(rest, values) : readOfficial(provider, rest, values);
}

function readOfficial(provider: 'openai' | 'anthropic', model: string, values: ModelSettingValues): ModelSettings {
  requireModel(model);
  const url = values.FLOTILLA_MODEL_URL?.trim();
  const baseUrl = url ? readBaseUrl('FLOTILLA_MODEL_URL', url) : officialBaseUrls[provider];
  const key = values.FLOTILLA_MODEL_KEY?.trim() || values[keySettings[provider]]?.trim();
  if (!key && !url) throw new FlotillaError(errors.modelKeyMissing, { provider, setting: keySettings[provider] });
  return { provider, model, baseUrl, ...(key ? { apiKey: new SecretKey(key) } : {}) };
}

function readCompatible(rest: string, values: ModelSettingValues): ModelSettings {
  const at = rest.search(/@https?:\/\//);
  const model = at < 0 ? rest : rest.slice(0, at);
  requireModel(model);
  const inline = at < 0 ? undefined : rest.slice(at + 1);
  const url = inline ?? values.FLOTILLA_MODEL_URL?.trim();
  if (!url && rest.includes('@')) throw invalid('FLOTILLA_MODEL', `what follows "@" ${addressForm}`);
  if (!url) throw invalid('FLOTILLA_MODEL_URL', 'a compatible model needs an address');
  const key = values.FLOTILLA_MODEL_KEY?.trim();
  const baseUrl = readBaseUrl(inline === undefined ? 'FLOTILLA_MODEL_URL' : 'FLOTILLA_MODEL', url);
  return { provider: 'compatible', model, baseUrl, ...(key ? { apiKey: new SecretKey(key) } : {}) };
}

function readBaseUrl(setting: string, text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol))
    throw invalid(setting, `its address ${addressForm}`);
  if (url.username !== '' || url.password !== '') throw invalid(setting, 'an address must not carry credentials');
  if (url.search !== '' || url.hash !== '') throw invalid(setting, 'an address must not carry a query or fragment');
  return url.href.replace(/\/+$/, '');
}

function requireModel(model: string): void {
  if (!/^[\x21-\x7e]{1,200}$/.test(model)) throw invalid('FLOTILLA_MODEL', 'it names no model');
}

function isProvider(text: string): text is ModelProvider {
  return text === 'openai' || text === 'anthropic' || text === 'compatible';
}

function invalid(setting: string, reason: string): FlotillaError {
  return new FlotillaError(errors.modelSettingInvalid, { setting, reason });
}
