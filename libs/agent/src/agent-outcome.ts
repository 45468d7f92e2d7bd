import type { Spent } from '@flotilla/contracts/allowance';
import type { AgentReport } from './agent-task.ts';

export const limits = ['turns', 'calls', 'tokens', 'microdollars', 'seconds', 'fix_cycles'] as const;
export type Limit = (typeof limits)[number];

/** How the loop ended. `verified`: no file changed, or the tests passed after the last change. */
export type AgentOutcome = { readonly spent: Spent } & (
  | { readonly kind: 'finished'; readonly report: AgentReport; readonly modified: boolean; readonly verified: boolean }
  | { readonly kind: 'limit_reached'; readonly limit: Limit; readonly modified: boolean }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string; readonly advice: string }
);
