import { leftOf, type Allowance, type Spent } from '@flotilla/contracts/allowance';

export type Allowed =
  | { readonly kind: 'allowed'; readonly allowance: Allowance }
  | { readonly kind: 'spent'; readonly limit: keyof Allowance };

/** What a visit may spend: the step's limit or what is left of the run's budget, whichever is less. Nothing left of one thing is enough to stop. */
export function allowStep(limit: Allowance, budget: Allowance, spent: Spent): Allowed {
  const left = leftOf(budget, spent);
  const least = (name: keyof Allowance) => Math.min(limit[name], left[name]);
  const allowance: Allowance = {
    turns: least('turns'),
    calls: least('calls'),
    tokens: least('tokens'),
    microdollars: least('microdollars'),
    seconds: least('seconds'),
  };
  const names = ['turns', 'calls', 'tokens', 'microdollars', 'seconds'] as const satisfies (keyof Allowance)[];
  const gone = names.find((name) => allowance[name] <= 0);
  return gone === undefined ? { kind: 'allowed', allowance } : { kind: 'spent', limit: gone };
}
