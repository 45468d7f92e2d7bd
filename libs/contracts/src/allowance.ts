import { z } from 'zod';

const amount = z.int().nonnegative();

/** What a step may spend at most. */
export const Allowance = z.object({
  turns: amount.describe('Model turns.'),
  calls: amount.describe('Tool calls.'),
  tokens: amount.describe('Input and output tokens together.'),
  microdollars: amount.describe('Millionths of a US dollar; a model without a known price spends none.'),
  seconds: amount.describe('Wall-clock seconds of work; waiting is not counted.'),
});
export type Allowance = z.infer<typeof Allowance>;

/** What was spent. `microdollars` is null when the price of a model that was used is not known. */
export const Spent = z.object({
  turns: amount.describe('Model turns.'),
  calls: amount.describe('Tool calls.'),
  tokens: amount.describe('Input and output tokens together.'),
  microdollars: amount.nullable().describe('Millionths of a US dollar; null where the price of a model is not known.'),
  seconds: z.number().nonnegative().describe('Wall-clock seconds of work; waiting is not counted.'),
});
export type Spent = z.infer<typeof Spent>;

export const nothingSpent: Spent = { turns: 0, calls: 0, tokens: 0, microdollars: 0, seconds: 0 };

/** An unknown price stays unknown whatever is added to it. */
export function addSpent(left: Spent, right: Spent): Spent {
  return {
    turns: left.turns + right.turns,
    calls: left.calls + right.calls,
    tokens: left.tokens + right.tokens,
    microdollars:
      left.microdollars === null || right.microdollars === null ? null : left.microdollars + right.microdollars,
    seconds: left.seconds + right.seconds,
  };
}

/** What is left of an allowance, never below zero. */
export function leftOf(allowance: Allowance, spent: Spent): Allowance {
  const left = (most: number, used: number) => Math.max(0, Math.floor(most - used));
  return {
    turns: left(allowance.turns, spent.turns),
    calls: left(allowance.calls, spent.calls),
    tokens: left(allowance.tokens, spent.tokens),
    microdollars: left(allowance.microdollars, spent.microdollars ?? 0),
    seconds: left(allowance.seconds, spent.seconds),
  };
}
