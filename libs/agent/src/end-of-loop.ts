import { errors } from '@flotilla/errors/catalogue';
import type { ErrorDefinition } from '@flotilla/errors/flotilla-error';
import { limits, type AgentOutcome } from './agent-outcome.ts';
import type { Role } from './agent-task.ts';
import type { LoopEnd } from './decide-next.ts';
import type { JournalFacts } from './journal-facts.ts';
import { finishId, readReport } from './tools/finish.ts';

/** An end as the journal keeps it: `finished`, `cancelled`, `limit_reached:<limit>`; failures are written `failed:<CODE>`. */
export function describeEnd(end: Exclude<LoopEnd, { readonly kind: 'failed' }>): string {
  return end.kind === 'limit_reached' ? `limit_reached:${end.limit}` : end.kind;
}

/** The outcome that the journal's end tells; undefined where it has none. */
export function readOutcome(facts: JournalFacts, role: Role): AgentOutcome | undefined {
  if (facts.end === undefined) return undefined;
  const { outcome, verified, spent } = facts.end;
  const { modified } = facts;
  const [kind, detail = ''] = outcome.split(':');
  if (kind === 'cancelled') return { kind, spent };
  const limit = limits.find((each) => each === detail);
  if (kind === 'limit_reached' && limit !== undefined) return { kind, limit, modified, spent };
  if (kind === 'failed') return { kind, spent, ...describeFailure(facts, detail) };
  const accepted = facts.turns
    .flatMap(({ calls }) => calls)
    .findLast((call) => call.tool === finishId && call.finished?.ok === true);
  const report = kind === 'finished' ? readReport(role, accepted?.arguments) : undefined;
  return report === undefined ? undefined : { kind: 'finished', report, modified, verified, spent };
}

function describeFailure(facts: JournalFacts, code: string) {
  const definitions: readonly ErrorDefinition[] = Object.values(errors);
  const definition = definitions.find((each) => each.code === code);
  const words = [...facts.opening, ...facts.turns.flatMap(({ nudges }) => nudges)].findLast(
    (nudge) => nudge.code === code,
  )?.text;
  return { code, message: words ?? definition?.summary ?? code, advice: definition?.advice ?? 'Retry the run.' };
}
