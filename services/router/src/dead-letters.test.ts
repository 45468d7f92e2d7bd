import { exampleDeadLetterRecord } from '@flotilla/contracts/dead-letter';
import { expect, test } from 'vitest';
import { DeadLetters } from './dead-letters.ts';

/** Letters by their number; numbers that were removed are missing. */
function lettersOf(records: Readonly<Record<number, object>>) {
  const published: unknown[] = [];
  let occasions = 0;
  const numbers = Object.keys(records).map(Number);
  const letters = new DeadLetters({
    range: () =>
      Promise.resolve(
        numbers.length === 0 ? { first: 1, last: 0 } : { first: Math.min(...numbers), last: Math.max(...numbers) },
      ),
    read: (deadId) => Promise.resolve(records[deadId] === undefined ? undefined : JSON.stringify(records[deadId])),
    newOccasion: () => String((occasions += 1)),
    publish: (message) => Promise.resolve(void published.push(message)),
  });
  return { letters, published };
}

const letter = exampleDeadLetterRecord;

test('letters are listed newest first, page by page, gaps left out', async () => {
  const { letters } = lettersOf({ 3: letter, 4: letter, 7: letter, 9: letter });
  const first = await letters.list(2);
  expect(first.letters.map(({ deadId }) => deadId)).toEqual([9, 7]);
  const second = await letters.list(2, first.next);
  expect(second.letters.map(({ deadId }) => deadId)).toEqual([4, 3]);
  expect(second.next).toBeUndefined();
  expect(await lettersOf({}).letters.list(10)).toEqual({ letters: [] });
});

test('a letter is shown with what it said, JSON or not', async () => {
  const { letters } = lettersOf({ 1: letter, 2: { ...letter, payload: 'no {' } });
  expect(await letters.show(1)).toMatchObject({
    letter: { deadId: 1, code: 'PROJECT_UNKNOWN' },
    payload: { project: 'slugify' },
  });
  expect((await letters.show(2)).payload).toBe('no {');
  const { payload } = letter;
  const large = lettersOf({ 1: { ...letter, payload: '{"goal": "x', payloadBytes: 300_000 } }).letters;
  expect(await large.show(1)).toMatchObject({ payload: '{"goal": "x', payloadBytes: 300_000, truncated: true });
  expect(await letters.show(1)).toMatchObject({ payloadBytes: payload.length, truncated: false });
  const empty = lettersOf({ 1: { ...letter, payload: '', payloadBytes: 0 } }).letters;
  expect(await empty.show(1)).toMatchObject({ payload: '', payloadBytes: 0, truncated: false });
  await expect(letters.show(3)).rejects.toMatchObject({ code: 'DEAD_UNKNOWN', status: 404 });
});

test('a dead task is published again as it was, under an id of the occasion', async () => {
  const headers = { traceparent: 't', 'Nats-Msg-Id': 'm-1', 'Flotilla-Answer-To': '_INBOX.a.b', tenant: 'x' };
  const { letters, published } = lettersOf({ 7: { ...letter, headers } });
  expect(await letters.replay(7)).toBe('replay/7/1');
  const { subject, payload } = letter;
  expect(published).toEqual([
    { subject, payload, messageId: 'replay/7/1', headers: { traceparent: 't', tenant: 'x' } },
  ]);
});

test('each replay is an occasion of its own, unless the request says that it is the same', async () => {
  const { letters } = lettersOf({ 7: letter });
  expect([await letters.replay(7), await letters.replay(7)]).toEqual(['replay/7/1', 'replay/7/2']);
  expect([await letters.replay(7, 'k'), await letters.replay(7, 'k')]).toEqual(['replay/7/k', 'replay/7/k']);
});

test.each([
  ['a step', { ...letter, subject: 'flotilla.step.completed' }, 'DEAD_NOT_REPLAYABLE'],
  ['a task without text', { ...letter, payload: '', payloadBytes: 0 }, 'DEAD_EMPTY'],
  ['a task of which only the beginning is kept', { ...letter, payloadBytes: 300_000 }, 'DEAD_INCOMPLETE'],
  ['a number without a letter', undefined, 'DEAD_UNKNOWN'],
])('%s is not replayed', async (_, record, code) => {
  const { letters, published } = lettersOf(record === undefined ? {} : { 7: record });
  await expect(letters.replay(7)).rejects.toMatchObject({ code });
  expect(published).toEqual([]);
});

test('who may not replay a step is told the run to retry', async () => {
  const runId = `run_${'0'.repeat(26)}`;
  const { letters } = lettersOf({ 7: { ...letter, subject: 'flotilla.step.completed', runId } });
  await expect(letters.replay(7)).rejects.toMatchObject({ advice: expect.stringContaining(runId) });
});
