import type { AgentOutcome } from '@flotilla/agent/agent-outcome';
import type { Outcome } from '@flotilla/contracts/outcome';

/** The outcome of a step whose agent did not finish: whatever it left behind is in its checkpoints and is nobody's result. */
export function earlyEnd(end: Exclude<AgentOutcome, { readonly kind: 'finished' }>): Outcome {
  switch (end.kind) {
    case 'limit_reached':
      return { kind: 'limit_reached', limit: end.limit };
    case 'cancelled':
      return { kind: 'cancelled' };
    case 'failed':
      return { kind: 'failed', code: end.code, message: end.message, advice: end.advice };
  }
}
