import { ChangeCaptured, ChangeLanded } from '@flotilla/contracts/events/step-events';
import { expect, test } from 'vitest';
import { chooseDiff } from './choose-diff.ts';
import { createLog, exampleRunId } from './log.fixture.ts';

const place = { stepId: 'build', attempt: 1 };

test('before anything was captured there is no diff', () => {
  expect(chooseDiff(exampleRunId, [])).toEqual({
    runId: exampleRunId,
    state: 'none',
    files: [],
    diff: '',
    truncated: false,
  });
});

test('the change that was captured last is what is proposed', () => {
  const log = createLog();
  log.add(ChangeCaptured, ChangeCaptured.example, place);
  log.add(ChangeCaptured, { ...ChangeCaptured.example, diff: 'second', summary: 'Better.' }, place);
  expect(chooseDiff(exampleRunId, log.entries)).toMatchObject({
    state: 'proposed',
    diff: 'second',
    summary: 'Better.',
  });
});

test('once landed, the diff is of what the branch got', () => {
  const log = createLog();
  log.add(ChangeCaptured, ChangeCaptured.example, place);
  log.add(
    ChangeLanded,
    { ...ChangeLanded.example, commit: 'd'.repeat(40), diff: 'landed', diffTruncated: true },
    place,
  );
  expect(chooseDiff(exampleRunId, log.entries)).toMatchObject({
    state: 'landed',
    base: ChangeLanded.example.previous,
    commit: 'd'.repeat(40),
    diff: 'landed',
    truncated: true,
    files: ChangeCaptured.example.change.files,
  });
});
