import { join } from 'node:path';
import { calls } from '@flotilla/contracts/call-catalogue';
import { commonErrors } from '@flotilla/contracts/calls/common-errors';
import { beforeAll, expect, test } from 'vitest';
import { findReachableErrors } from './call-errors.fixture.ts';

/** What a handler's text reaches and it never answers with. */
const neverAnswered: Readonly<Record<string, readonly string[]>> = {
  // A gate refers to its run by a foreign key.
  decideGate: ['RUN_UNKNOWN'],
  // Warnings that an answer carries.
  addProject: ['BRANCH_CHECKED_OUT', 'TESTS_NOT_DETECTED'],
  submitTask: ['BRANCH_NOT_ASKED'],
  // A file that is too large is not read, and whatever keeps the tests from being seen leaves them out of the answer.
  inspectRemote: ['COMMITTED_FILE_TOO_LARGE'],
  // Its mirror has no remote that could refuse anything.
  salvageRun: ['REMOTE_CREDENTIAL_MISMATCH', 'REMOTE_NOT_CLONEABLE'],
};

/** A stream is bound where it is served, not in a table that could be read here. */
const unread: readonly string[] = ['watchRun'];

let reachable: ReturnType<typeof findReachableErrors>;
beforeAll(() => {
  reachable = findReachableErrors(join(import.meta.dirname, '../..'));
});

test.each(Object.values(calls).map((call) => [call.name, call.errors] as const))(
  'what the handler of %s can throw is declared with the call',
  (name, declared) => {
    const found = reachable.get(name);
    expect(found === undefined, `the handler of ${name} is not found`).toBe(unread.includes(name));
    const known = new Set([...declared, ...commonErrors, ...(neverAnswered[name] ?? [])]);
    expect([...(found ?? [])].filter((code) => !known.has(code))).toEqual([]);
  },
);

test('what is thrown on the far side of stores and judgements is found', () => {
  expect([...(reachable.get('retryRun') ?? [])]).toEqual(
    expect.arrayContaining(['RETRIES_EXHAUSTED', 'PROJECT_UNKNOWN']),
  );
  expect([...(reachable.get('showRun') ?? [])]).toContain('RUN_UNKNOWN');
});
