import { expect, test } from 'vitest';
import { mayAnswerTo } from './answer-subject.ts';
import { inboxPrefixOf, whyNoPublisher } from './principals.ts';
import { intakeSubject } from './streams.ts';

test.each(['ann', 'ci-bot', 'a_b', 'ann@example', 'A-_@1'])(
  'a publisher that may be named %s is answered at its own inbox',
  (name) => {
    expect(whyNoPublisher(name)).toBeUndefined();
    expect(mayAnswerTo(`${inboxPrefixOf(name)}.abc.1`, intakeSubject(name))).toBe(true);
  },
);

test.each([
  ['the inbox of another publisher', '_INBOX_bob.abc', intakeSubject('ann')],
  ['the inbox of the local user', '_INBOX.abc', intakeSubject('ann')],
  ['the inbox of a name that begins alike', '_INBOX_ann_b.abc', intakeSubject('ann')],
  ["a publisher's inbox, for the local user", '_INBOX_ann.abc', intakeSubject('local')],
  ["a publisher's inbox, for the plain subject", '_INBOX_ann.abc', intakeSubject()],
  ['the inbox of a service', '_INBOX_router.abc', intakeSubject('router')],
  ['a wildcard', '_INBOX.*', intakeSubject()],
  ['the inbox of a wildcard', '_INBOX_*.abc', intakeSubject('*')],
  ['no token of a subject', '_INBOX.a b', intakeSubject()],
  ['the prefix alone', '_INBOX', intakeSubject()],
  ['a call', 'flotilla.command.decideGate', intakeSubject()],
  ['an inbox, for what is no task', '_INBOX.abc', 'flotilla.step.completed'],
])('no answer goes to %s', (_, answerTo, published) => {
  expect(mayAnswerTo(answerTo, published)).toBe(false);
});

test('the local user is answered at a plain inbox, whichever of its subjects it uses', () => {
  for (const subject of [intakeSubject(), intakeSubject('local')])
    expect(mayAnswerTo('_INBOX.abc.1', subject)).toBe(true);
});
