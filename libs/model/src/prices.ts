/** US dollars for a million tokens. */
export interface Rates {
  readonly input: number;
  readonly cachedInput: number;
  /** Writing to the provider's cache. Default: as input. */
  readonly cacheWrite?: number;
  readonly output: number;
}

export interface PriceRow extends Rates {
  readonly provider: 'openai' | 'anthropic';
  /** The model's name; a dated snapshot (`-2026-03-05`, `-20250929`) is the same model. */
  readonly model: string;
  /** A prompt longer than this is charged at these rates, all of it. */
  readonly long?: LongRates;
}

export interface LongRates extends Rates {
  readonly overTokens: number;
}

/** Doubles input and multiplies output by 1.5, as OpenAI does over 272,000 prompt tokens from gpt-5.4 on. */
const openaiLong = ({ input, cachedInput, cacheWrite, output }: Rates): LongRates => ({
  overTokens: 272_000,
  input: input * 2,
  cachedInput: cachedInput * 2,
  ...(cacheWrite === undefined ? {} : { cacheWrite: cacheWrite * 2 }),
  output: output * 1.5,
});

const openai = (
  model: string,
  input: number,
  cachedInput: number,
  output: number,
  more: Partial<PriceRow> = {},
): PriceRow => ({
  provider: 'openai',
  model,
  input,
  cachedInput,
  output,
  ...more,
});

const openaiTiered = (model: string, rates: Rates): PriceRow => ({
  provider: 'openai',
  model,
  ...rates,
  long: openaiLong(rates),
});

/** Anthropic charges 1.25 times the input price for its five-minute cache. */
const anthropic = (model: string, input: number, cachedInput: number, output: number, long?: LongRates): PriceRow => ({
  provider: 'anthropic',
  model,
  input,
  cachedInput,
  cacheWrite: input * 1.25,
  output,
  ...(long === undefined ? {} : { long }),
});

/**
 * Published list prices, standard tier, read on 2026-11-30 from developers.openai.com/api/docs/pricing (as restated in
 * GitHub's model price table) and platform.claude.com/docs/en/about-claude/pricing. What is not listed has no known price.
 */
export const prices: readonly PriceRow[] = [
  openaiTiered('gpt-5.6-sol', { input: 5, cachedInput: 0.5, cacheWrite: 6.25, output: 30 }),
  openaiTiered('gpt-5.6-terra', { input: 2, cachedInput: 0.2, cacheWrite: 2.5, output: 12 }),
  openaiTiered('gpt-5.6-luna', { input: 0.2, cachedInput: 0.02, cacheWrite: 0.25, output: 1.2 }),
  openaiTiered('gpt-5.5', { input: 5, cachedInput: 0.5, output: 30 }),
  openaiTiered('gpt-5.4', { input: 2.5, cachedInput: 0.25, output: 15 }),
  openai('gpt-5.4-mini', 0.75, 0.075, 4.5),
  openai('gpt-5.4-nano', 0.2, 0.02, 1.25),
  openai('gpt-5.3-codex', 1.75, 0.175, 14),
  openai('gpt-5.2', 1.75, 0.175, 14),
  openai('gpt-5.1', 1.25, 0.125, 10),
  openai('gpt-5', 1.25, 0.125, 10),
  openai('gpt-5-mini', 0.25, 0.025, 2),
  openai('gpt-5-nano', 0.05, 0.005, 0.4),
  openai('gpt-4.1', 2, 0.5, 8),
  openai('gpt-4.1-mini', 0.4, 0.1, 1.6),
  openai('gpt-4.1-nano', 0.1, 0.025, 0.4),
  openai('gpt-4o', 2.5, 1.25, 10),
  openai('gpt-4o-mini', 0.15, 0.075, 0.6),
  anthropic('claude-fable-5-1', 10, 0.25, 50),
  anthropic('claude-fable-5', 10, 1, 50),
  anthropic('claude-opus-5-5', 4, 0.2, 20),
  anthropic('claude-opus-5', 5, 0.5, 25),
  anthropic('claude-opus-4-8', 5, 0.5, 25),
  anthropic('claude-opus-4-7', 5, 0.5, 25),
  anthropic('claude-opus-4-6', 5, 0.5, 25),
  anthropic('claude-opus-4-5', 5, 0.5, 25),
  anthropic('claude-sonnet-5-5', 2, 0.1, 10),
  anthropic('claude-sonnet-5', 2, 0.2, 10),
  anthropic('claude-sonnet-4-6', 3, 0.3, 15),
  anthropic('claude-sonnet-4-5', 3, 0.3, 15),
  anthropic('claude-haiku-5-5', 0.1, 0.01, 0.5, {
    overTokens: 100_000,
    input: 0.5,
    cachedInput: 0.05,
    cacheWrite: 0.625,
    output: 2.5,
  }),
  anthropic('claude-haiku-4-5', 1, 0.1, 5),
];
