import type { Evidence } from '@flotilla/contracts/change';
import type { TreeId } from '@flotilla/contracts/ids';
import { Outcome } from '@flotilla/contracts/outcome';
import { expect, test } from 'vitest';
import { decideReview } from './decide-review.ts';

const evidence: Evidence = { tree: 'b'.repeat(40) as TreeId, image: 'box:1', checks: ['npm test'] };
const finding = { severity: 'warning', text: 'A name hides another.' } as const;

test('an approval hands on the evidence and whatever was found', () => {
  expect(decideReview({ verdict: 'approve', summary: 'Good.', findings: [finding] }, evidence)).toEqual({
    kind: 'done',
    result: { verb: 'review', evidence, summary: 'Good.', findings: [finding] },
  });
});

test('a request for changes goes back with its findings', () => {
  expect(decideReview({ verdict: 'request_changes', summary: 'No.', findings: [finding] }, evidence)).toEqual({
    kind: 'changes_requested',
    findings: [finding],
    summary: 'No.',
  });
});

test.each([['The name hides another.'], [''], ['x'.repeat(9_000)]])(
  'a request for changes without a finding still tells the author something',
  (summary) => {
    const outcome = decideReview({ verdict: 'request_changes', summary, findings: [] }, evidence);
    expect(Outcome.safeParse(outcome).error).toBeUndefined();
  },
);
