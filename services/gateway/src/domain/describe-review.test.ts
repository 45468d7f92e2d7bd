import { ChecksPassed, ReviewWritten } from '@flotilla/contracts/events/step-events';
import { TreeId } from '@flotilla/contracts/ids';
import { expect, test } from 'vitest';
import { describeReview } from './describe-review.ts';
import { createLog } from './log.fixture.ts';

const tree = TreeId.parse('b'.repeat(40));
const place = { stepId: 'review', attempt: 1 };

test('the last review counts', () => {
  const log = createLog();
  log.add(ReviewWritten, { verdict: 'request_changes', summary: 'No.', findings: [] }, place);
  log.add(ReviewWritten, ReviewWritten.example, place);
  expect(describeReview({ tree }, log.entries)).toMatchObject({
    review: 'Small and tested.',
    findings: [{ severity: 'suggestion' }],
  });
});

test('checks that passed on another tree are no evidence for this one', () => {
  const log = createLog();
  log.add(ChecksPassed, { ...ChecksPassed.example, tree: 'e'.repeat(40) }, place);
  expect(describeReview({ tree }, log.entries).checks).toEqual([]);
  log.add(ChecksPassed, ChecksPassed.example, place);
  expect(describeReview({ tree }, log.entries).checks).toEqual(['npm test']);
});
