import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { ModelSettings } from './model-settings.ts';

/**
 * The SDK's model for our settings. Address and key are always given, because the SDK would otherwise take them from
 * the environment.
 */
export function selectProvider(
  { provider, model, baseUrl, apiKey }: ModelSettings,
  fetch: typeof globalThis.fetch,
): LanguageModelV4 {
  const key = apiKey?.reveal();
  switch (provider) {
    case 'openai':
      return createOpenAI({ baseURL: baseUrl, apiKey: key ?? 'none', fetch }).chat(model);
    case 'anthropic':
      return createAnthropic({ baseURL: baseUrl, apiKey: key ?? 'none', fetch }).languageModel(model);
    case 'compatible':
      return createOpenAICompatible({
        name: 'compatible',
        baseURL: baseUrl,
        includeUsage: true,
        fetch,
        ...(key === undefined ? {} : { apiKey: key }),
      }).languageModel(model);
  }
}
