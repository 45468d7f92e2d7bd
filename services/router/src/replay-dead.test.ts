import { exampleDeadLetterRecord } from '@flotilla/contracts/dead-letter';
import { expect, test } from 'vitest';
import { DeadLetters } from './replay-dead.ts';

function lettersWith(record: object | undefined) {
  const published: unknown[] = [];
  const letters = new DeadLetters({
    read: () => Promise.resolve(record === undefined ? undefined : JSON.stringify(record)),
    publish: (message) => Promise.resolve(void published.push(message)),
  });
  return { letters, published };
}

test('a dead task is published again as it was, under an id that stays the same', async () => {
  const headers = { traceparent: 't', 'Nats-Msg-Id': 'm-1', 'Flotilla-Answer-To': '_INBOX.a.b', tenant: 'x' };
  const { letters, published } = lettersWith({ ...exampleDeadLetterRecord, headers });
  expect(await letters.replay(7)).toBe('replay/7');
  const { subject, payload } = exampleDeadLetterRecord;
  expect(published).toEqual([{ subject, payload, messageId: 'replay/7', headers: { traceparent: 't', tenant: 'x' } }]);
});

test('a step is not replayed, and neither is what is not there', async () => {
  await expect(
    lettersWith({ ...exampleDeadLetterRecord, subject: 'flotilla.step.completed' }).letters.replay(7),
  ).rejects.toMatchObject({ code: 'DEAD_NOT_REPLAYABLE' });
  await expect(lettersWith(undefined).letters.replay(7)).rejects.toMatchObject({ code: 'DEAD_UNKNOWN', status: 404 });
});
