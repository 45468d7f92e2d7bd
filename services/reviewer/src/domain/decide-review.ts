import type { Evidence, Finding } from '@flotilla/contracts/change';
import type { Outcome } from '@flotilla/contracts/outcome';

export interface Review {
  readonly verdict: 'approve' | 'request_changes';
  readonly summary: string;
  readonly findings: readonly Finding[];
}

/** A request for changes always says what: where the model gave no finding, its summary is one. */
export function decideReview({ verdict, summary, findings }: Review, evidence: Evidence): Outcome {
  if (verdict === 'approve') {
    return { kind: 'done', result: { verb: 'review', evidence, summary, findings: [...findings] } };
  }
  const text = summary.trim() === '' ? 'The review asks for changes and does not say which.' : summary;
  const said: Finding[] = findings.length > 0 ? [...findings] : [{ severity: 'warning', text: text.slice(0, 4_000) }];
  return { kind: 'changes_requested', findings: said, summary };
}
