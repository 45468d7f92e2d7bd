import { verdicts, type PolicyCode, type PolicyDecision } from './tool-call.ts';

/** The first of the strictest decisions; a refusal where there is none. */
export function strictest(decisions: readonly PolicyDecision[]): PolicyDecision {
  const [first, ...rest] = decisions;
  if (first === undefined) return refuse('NOT_GRANTED', 'nothing permits it');
  return rest.reduce(
    (held, next) => (verdicts.indexOf(next.verdict) > verdicts.indexOf(held.verdict) ? next : held),
    first,
  );
}

export function allow(reason: string): PolicyDecision {
  return { verdict: 'allow', code: 'GRANTED', reason };
}

export function ask(reason: string): PolicyDecision {
  return { verdict: 'ask', code: 'ASK_FIRST', reason };
}

export function refuse(code: PolicyCode, reason: string): PolicyDecision {
  return { verdict: 'refuse', code, reason };
}
