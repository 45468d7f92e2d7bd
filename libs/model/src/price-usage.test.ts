import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findPrice, priceUsage } from './price-usage.ts';
import { prices } from './prices.ts';

const usage = { inputTokens: 1000, outputTokens: 100, cachedInputTokens: 400 };
const openai = (model: string, baseUrl = 'https://api.openai.com/v1') =>
  findPrice({ provider: 'openai', model, baseUrl });

test('cached input is charged at its own rate', () => {
  expect(priceUsage(openai('gpt-5'), usage)).toBe(Math.round(600 * 1.25 + 400 * 0.125 + 100 * 10));
});

test('writing to the cache costs what the provider says', () => {
  const price = findPrice({
    provider: 'anthropic',
    model: 'claude-sonnet-5-5',
    baseUrl: 'https://api.anthropic.com/v1',
  });
  expect(priceUsage(price, { ...usage, cacheWriteTokens: 500 })).toBe(
    Math.round(100 * 2 + 400 * 0.1 + 500 * 2.5 + 100 * 10),
  );
});

test('a prompt over the threshold is charged at the long rates, all of it', () => {
  expect(priceUsage(openai('gpt-5.4'), { inputTokens: 300_000, outputTokens: 0, cachedInputTokens: 0 })).toBe(
    1_500_000,
  );
  expect(priceUsage(openai('gpt-5.4'), { inputTokens: 272_000, outputTokens: 0, cachedInputTokens: 0 })).toBe(680_000);
});

test('a dated snapshot costs what its model costs', () => {
  expect(openai('gpt-5-2025-08-07')).toBe(openai('gpt-5'));
  expect(openai('gpt-5')).toBeDefined();
});

test.each([
  ['a model that is not listed', openai('gpt-99')],
  ['a longer name that only begins like a listed one', openai('gpt-5-ultra')],
  ['another address', openai('gpt-5', 'http://127.0.0.1:8000/v1')],
  [
    'a compatible endpoint',
    findPrice({ provider: 'compatible', model: 'gpt-5', baseUrl: 'https://api.openai.com/v1' }),
  ],
])('the price of %s is not known, which is null and never 0', (_, price) => {
  expect(priceUsage(price, usage)).toBeNull();
});

test('the cost of an answer whose tokens nobody counted is not known', () => {
  expect(priceUsage(openai('gpt-5'), { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0 })).toBeNull();
});

test('a cost is a whole number of microdollars and grows with every kind of token', () => {
  const tokens = fc.nat({ max: 200_000 });
  fc.assert(
    fc.property(fc.constantFrom(...prices), tokens, tokens, tokens, (price, fresh, cached, output) => {
      const cost = (more: number) =>
        priceUsage(price, {
          inputTokens: 1 + fresh + cached + more,
          cachedInputTokens: cached,
          outputTokens: output + more,
        }) ?? -1;
      return Number.isInteger(cost(0)) && cost(0) >= 0 && cost(1000) >= cost(0);
    }),
  );
});
