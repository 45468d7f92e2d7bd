import type { Change } from '@flotilla/contracts/change';
import type { Outcome } from '@flotilla/contracts/outcome';

/** How the agent's loop ended, as far as a build depends on it. */
export type BuildEnd =
  | { readonly kind: 'finished'; readonly summary: string }
  | { readonly kind: 'limit_reached'; readonly limit: string }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string; readonly advice: string };

/**
 * What a build hands on. `change` is what the workspace holds against the base, undefined where it equals it; what an
 * agent left behind that did not finish is in its checkpoints and is nobody's change.
 */
export function decideBuild(end: BuildEnd, change: Change | undefined): Outcome {
  switch (end.kind) {
    case 'finished':
      return change === undefined
        ? { kind: 'no_changes', reason: end.summary }
        : { kind: 'done', result: { verb: 'build', change, summary: end.summary } };
    case 'limit_reached':
      return { kind: 'limit_reached', limit: end.limit };
    case 'cancelled':
      return { kind: 'cancelled' };
    case 'failed':
      return { kind: 'failed', code: end.code, message: end.message, advice: end.advice };
  }
}
