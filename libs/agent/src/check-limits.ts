import type { Allowance, Spent } from '@flotilla/contracts/allowance';
import type { Limit } from './agent-outcome.ts';

const kinds = ['turns', 'calls', 'tokens', 'microdollars', 'seconds'] as const;

/** The first limit that leaves nothing for another turn. An unknown cost spends no money. */
export function findReached(allowance: Allowance, spent: Spent): Limit | undefined {
  return kinds.find((kind) => {
    const used = spent[kind];
    if (used === null) return false;
    // Before the first priced turn it is not known whether the model costs anything.
    return used >= allowance[kind] && (kind !== 'microdollars' || used > 0);
  });
}

export interface NearLimit {
  readonly code: string;
  readonly text: string;
}

const nearShare = 0.8;
const words = {
  turns: 'turns',
  calls: 'tool calls',
  tokens: 'tokens',
  microdollars: 'money',
  seconds: 'time',
} as const;

/** The limits of which four fifths are spent. */
export function findNear(allowance: Allowance, spent: Spent): readonly NearLimit[] {
  return kinds
    .filter((kind) => (spent[kind] ?? 0) >= allowance[kind] * nearShare && allowance[kind] > 0)
    .map((kind) => ({
      code: `LIMIT_NEAR_${kind.toUpperCase()}`,
      text: `Four fifths of your ${words[kind]} are spent. Bring the work to an end: make sure it is tested, then finish.`,
    }));
}
