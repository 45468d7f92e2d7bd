import { GateOpened } from '@flotilla/contracts/events/run-events';
import { ChangeCaptured, ChangeLanded, ChangeMerged } from '@flotilla/contracts/events/step-events';
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

const candidate = { ...ChangeMerged.example.change, commit: '9'.repeat(40), base: '8'.repeat(40) };

test('while a gate asks about a merge with the branch, the diff is of exactly that commit on what it would land on', () => {
  const log = createLog();
  log.add(ChangeCaptured, ChangeCaptured.example, place);
  log.add(GateOpened, GateOpened.example, { stepId: 'approval', attempt: 1 });
  expect(chooseDiff(exampleRunId, log.entries)).toMatchObject({ commit: ChangeCaptured.example.change.commit });
  log.add(
    ChangeMerged,
    { ...ChangeMerged.example, change: { ...candidate, files: [] }, diff: 'merged' },
    { stepId: 'land', attempt: 1 },
  );
  log.add(GateOpened, { ...GateOpened.example, change: candidate }, { stepId: 'approval', attempt: 2 });
  expect(chooseDiff(exampleRunId, log.entries)).toMatchObject({
    state: 'proposed',
    base: candidate.base,
    commit: candidate.commit,
    files: [],
    diff: 'merged',
  });
});

test('a merge that nobody is asked about leaves the diff what the author proposed', () => {
  const log = createLog();
  log.add(ChangeCaptured, ChangeCaptured.example, place);
  log.add(GateOpened, GateOpened.example, { stepId: 'approval', attempt: 1 });
  log.add(ChangeMerged, { ...ChangeMerged.example, change: candidate }, { stepId: 'land', attempt: 1 });
  expect(chooseDiff(exampleRunId, log.entries)).toMatchObject({ commit: ChangeCaptured.example.change.commit });
});

test('a change built after the gate was asked is what is proposed', () => {
  const log = createLog();
  log.add(ChangeCaptured, ChangeCaptured.example, place);
  log.add(GateOpened, { ...GateOpened.example, change: candidate }, { stepId: 'approval', attempt: 1 });
  log.add(
    ChangeCaptured,
    { ...ChangeCaptured.example, change: { ...candidate, commit: '7'.repeat(40) }, diff: 'anew' },
    { ...place, attempt: 2 },
  );
  expect(chooseDiff(exampleRunId, log.entries)).toMatchObject({ commit: '7'.repeat(40), diff: 'anew' });
});

test('where the log lacks the diff of the commit in question, none is shown rather than another', () => {
  const log = createLog();
  log.add(ChangeCaptured, ChangeCaptured.example, place);
  log.add(GateOpened, { ...GateOpened.example, change: candidate }, { stepId: 'approval', attempt: 1 });
  expect(chooseDiff(exampleRunId, log.entries)).toMatchObject({ commit: candidate.commit, diff: '', truncated: true });
});
