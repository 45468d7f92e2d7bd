import { FlotillaError, type Remedy } from '@flotilla/errors/flotilla-error';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { classify, decideSettlement, type SettlementFacts } from './decide-settlement.ts';

const failing = (remedy: Remedy, details = {}) =>
  new FlotillaError({ code: 'X', remedy, summary: 'x', advice: 'x.' }, details);
const facts: SettlementFacts = {
  error: failing('retry'),
  failures: 0,
  budget: { attempts: 3, delaysMs: [10, 20] },
  leaseLost: false,
  stopping: false,
};

test.each([
  ['waiting', failing('wait'), 99, { kind: 'later', counted: false }],
  ['a first failure', failing('retry'), 0, { kind: 'later', counted: true, delayMs: 10 }],
  ['a second failure', failing('retry'), 1, { kind: 'later', counted: true, delayMs: 20 }],
  ['the last failure of a budget', failing('retry'), 2, { kind: 'dead' }],
  ['a request that is wrong', failing('caller'), 0, { kind: 'dead' }],
  ['an installation that is wrong', failing('operator'), 0, { kind: 'dead' }],
  ['a surprise', new TypeError('x'), 0, { kind: 'later', counted: true }],
  ['a second surprise', new TypeError('x'), 1, { kind: 'dead', error: { code: 'FAILURE_UNCLASSIFIED' } }],
  ['something thrown that is no error', 'text', 1, { kind: 'dead', error: { code: 'FAILURE_UNCLASSIFIED' } }],
])('%s', (_, error, failures, settlement) => {
  expect(decideSettlement({ ...facts, error, failures })).toMatchObject(settlement);
});

test('a lost lease is settled by nobody, whatever was thrown', () => {
  expect(decideSettlement({ ...facts, leaseLost: true, stopping: true })).toMatchObject({ kind: 'abandoned' });
});

test('a process that stops gives the message back at once and at no cost, whatever was thrown', () => {
  for (const error of [failing('caller'), failing('retry'), new Error('x')]) {
    expect(decideSettlement({ ...facts, error, failures: 2, stopping: true })).toMatchObject({
      kind: 'later',
      delayMs: 0,
      counted: false,
    });
  }
});

test('a provider that says when to come again is obeyed, up to ten minutes', () => {
  const delayed = (retryAfterMs: unknown) => decideSettlement({ ...facts, error: failing('retry', { retryAfterMs }) });
  expect(delayed(5_000)).toMatchObject({ delayMs: 5_000 });
  expect(delayed(1)).toMatchObject({ delayMs: 10 });
  expect(delayed(24 * 3600 * 1000)).toMatchObject({ delayMs: 600_000 });
  expect(delayed('soon')).toMatchObject({ delayMs: 10 });
});

test('every failure that is tried again brings a budget nearer to its end, and every budget ends', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 20 }),
      fc.array(fc.integer({ min: 0, max: 1000 }), { maxLength: 5 }),
      (attempts, delaysMs) => {
        let failures = 0;
        for (;;) {
          const settlement = decideSettlement({ ...facts, failures, budget: { attempts, delaysMs } });
          if (settlement.kind === 'dead') break;
          expect(settlement).toMatchObject({ kind: 'later', counted: true });
          failures += 1;
        }
        expect(failures).toBe(attempts - 1);
      },
    ),
  );
});

test.each(['ENOSPC', 'EDQUOT'])('a full disk (%s) is waited for, whatever ran into it', (code) => {
  const error = Object.assign(new Error('write'), { code });
  expect(classify(error)).toMatchObject({ code: 'DISK_FULL', remedy: 'wait' });
  expect(classify(Object.assign(new Error('write'), { code: 'EIO' })).code).toBe('FAILURE_UNCLASSIFIED');
});
