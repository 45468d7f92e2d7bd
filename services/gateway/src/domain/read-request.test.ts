import { calls } from '@flotilla/contracts/call-catalogue';
import { expect, test } from 'vitest';
import { type RawRequest, readRequest } from './read-request.ts';

const runId = 'run_01j9z3k8m2n4p6q8r0s2t4v6w8';
const nothing: RawRequest = { path: {}, query: {}, body: {} };
const refused = expect.objectContaining({ code: 'REQUEST_INVALID', status: 400 });

test('a query reads as numbers, booleans and lists where the call has them', () => {
  const query = { after: '12', limit: '5', type: 'tool.started' };
  expect(readRequest(calls.listEvents, { ...nothing, path: { runId }, query })).toEqual({
    runId,
    after: 12,
    limit: 5,
    type: ['tool.started'],
  });
  expect(readRequest(calls.watchRun, { ...nothing, path: { runId }, query: { live: 'false' } })).toMatchObject({
    live: false,
  });
});

test('a text of digits stays a text where the call has one', () => {
  expect(readRequest(calls.listProjects, { ...nothing, query: { after: '12' } })).toMatchObject({ after: '12' });
});

test.each<[string, RawRequest]>([
  ['a path that climbs', { ...nothing, path: { runId: '../../etc/passwd' } }],
  ['an id of another kind', { ...nothing, path: { runId: 'gate_01j9z3k8m2n4p6q8r0s2t4v6w8' } }],
  ['a NUL', { ...nothing, path: { runId: `${runId}\0` } }],
  ['a list for a text', { ...nothing, path: { runId }, query: { after: ['1', '2'] } }],
  ['a number with a sign it may not have', { ...nothing, path: { runId }, query: { after: '-1' } }],
  ['a number that is none', { ...nothing, path: { runId }, query: { after: '1e3' } }],
  ['a field nobody listed', { ...nothing, path: { runId }, query: { priority: '1' } }],
  ['a field of the path in the query', { ...nothing, path: { runId }, query: { runId } }],
  ['a body', { ...nothing, path: { runId }, body: { after: 1 } }],
])('%s is refused by a query', (_, raw) => {
  expect(() => readRequest(calls.listEvents, raw)).toThrow(refused);
});

const task = { goal: 'Make slugify keep digits.', project: 'slugify' };

test.each<[string, unknown]>([
  ['a list', [task]],
  ['a text', 'x'],
  ['null', null],
  ['a list for a text', { ...task, goal: ['a'] }],
  ['a NUL inside', { ...task, goal: 'a\0b' }],
  ['half a surrogate pair', { ...task, goal: '\ud800' }],
  ['who asks', { ...task, principal: 'root' }],
  ['a goal that is too long', { ...task, goal: 'ä'.repeat(33_000) }],
])('%s is refused by a command', (_, body) => {
  expect(() => readRequest(calls.submitTask, { ...nothing, body })).toThrow(refused);
});

test('a command has no query', () => {
  expect(() => readRequest(calls.submitTask, { ...nothing, query: { goal: 'x' }, body: task })).toThrow(refused);
});

test.each(['ticket-1', '"ticket-1"'])(
  'the header Idempotency-Key %s stands for the key of the caller',
  (idempotencyKey) => {
    expect(readRequest(calls.submitTask, { ...nothing, body: task, idempotencyKey })).toMatchObject({
      externalKey: 'ticket-1',
    });
  },
);

test('two keys that differ are refused', () => {
  const body = { ...task, externalKey: 'ticket-2' };
  expect(() => readRequest(calls.submitTask, { ...nothing, body, idempotencyKey: 'ticket-1' })).toThrow(refused);
});

test('violations name each field that is wrong', () => {
  expect(() => readRequest(calls.submitTask, { ...nothing, body: { goal: '' } })).toThrow(
    expect.objectContaining({
      details: expect.objectContaining({
        violations: expect.arrayContaining([
          expect.objectContaining({ path: 'goal' }),
          expect.objectContaining({ path: 'project' }),
        ]),
      }),
    }),
  );
});
