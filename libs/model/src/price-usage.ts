import { officialBaseUrls, type ModelSettings } from './model-settings.ts';
import type { ModelUsage } from './model.ts';
import { prices, type PriceRow, type Rates } from './prices.ts';

const snapshot = /-(\d{4}-\d{2}-\d{2}|\d{8})$/;

/** The list price of a model at its provider's own address. Elsewhere, and for a model not listed, it is not known: undefined. */
export function findPrice({
  provider,
  model,
  baseUrl,
}: Pick<ModelSettings, 'provider' | 'model' | 'baseUrl'>): PriceRow | undefined {
  if (provider === 'compatible' || baseUrl !== officialBaseUrls[provider]) return undefined;
  const name = model.replace(snapshot, '');
  return prices.find((row) => row.provider === provider && row.model === name);
}

/** Millionths of a US dollar, rounded to a whole one; null for an unknown price, and where the provider counted no tokens. */
export function priceUsage(price: PriceRow | undefined, usage: ModelUsage): number | null {
  if (price === undefined || usage.inputTokens + usage.outputTokens === 0) return null;
  const rates: Rates = price.long !== undefined && usage.inputTokens > price.long.overTokens ? price.long : price;
  const written = usage.cacheWriteTokens ?? 0;
  const fresh = Math.max(0, usage.inputTokens - usage.cachedInputTokens - written);
  const dollarsPerMillion =
    fresh * rates.input +
    usage.cachedInputTokens * rates.cachedInput +
    written * (rates.cacheWrite ?? rates.input) +
    usage.outputTokens * rates.output;
  // Tokens times dollars per million tokens is millionths of a dollar already.
  return Math.round(dollarsPerMillion);
}
