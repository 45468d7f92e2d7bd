import { calls } from '@flotilla/contracts/call-catalogue';
import { beforeEach, expect, test } from 'vitest';
import { createFleetFixture, type FleetFixture, run, token } from '../fleet.fixture.ts';

let fleet: FleetFixture;
let environment: Record<string, string>;
beforeEach(async () => {
  fleet = await createFleetFixture();
  environment = { FLOTILLA_URL: fleet.url, FLOTILLA_TOKEN: token };
  return () => fleet.close();
});

const flotilla = (...argv: string[]) => run(argv, { environment });
const runId = 'run_01j9z3k8m2n4p6q8r0s2t4v6w8';
const gateId = 'gate_01j9z3k8m2n4p6q8r0s2t4v6w8';

const commit = 'c'.repeat(40);

test.each([
  ['approve', [runId], 'approve', undefined],
  ['approve', [gateId, '-m', 'Good.'], 'approve', 'Good.'],
  ['approve', ['latest', '--commit', 'ccccccc'], 'approve', undefined],
  ['request-changes', [runId, 'Keep the name.'], 'request_changes', 'Keep the name.'],
  ['decline', [runId], 'decline', undefined],
])('%s %j decides on the commit of the open gate and shows its files', async (verb, argv, decision, comment) => {
  const { exitCode, err } = await flotilla(verb, ...argv);
  expect(exitCode).toBe(0);
  expect(err).toContain('slugify.js');
  expect(fleet.received.at(-1)).toMatchObject({ call: 'decideGate', request: { gateId, decision, commit } });
  expect(fleet.received.at(-1)?.request['comment']).toBe(comment);
});

test('an approval of another commit than the one that is asked about is not sent', async () => {
  const { exitCode, err } = await flotilla('approve', runId, '--commit', 'abcdef0');
  expect([exitCode, err]).toEqual([4, expect.stringContaining('COMMIT_DIFFERS')]);
  expect(fleet.received.map(({ call }) => call)).not.toContain('decideGate');
});

const { response } = calls.showRun.example;

test.each([
  ['running', undefined, 'running: build', 'flotilla watch'],
  ['ended', 'failed', 'ended: failed', 'flotilla retry'],
  ['ended', 'cancelled', 'ended: cancelled', 'flotilla events'],
  ['ended', 'limit_reached', 'ended: limit_reached', 'flotilla retry'],
  ['ended', 'declined', 'ended: declined', 'flotilla retry'],
  ['ended', 'landed', 'ended: landed', 'flotilla show'],
] as const)('a run that is %s %s has nothing to approve, and is told as that with what to do', async (...given) => {
  const [state, result, told, advice] = given;
  const { gateId: _gate, result: _result, ...run } = response.run;
  fleet.answer('showRun', () => ({
    ...response,
    run: { ...run, state, ...(result === undefined ? { stepId: 'build' } : { result }) },
    gate: undefined,
  }));
  fleet.answer('showDiff', () => ({ runId, state: 'none', files: [], diff: '', truncated: false }));
  const approved = await flotilla('approve', runId);
  expect(approved.exitCode).toBe(4);
  const diff = await flotilla('diff', runId);
  expect([diff.exitCode, diff.out]).toEqual([0, '']);
  for (const { err } of [approved, diff]) {
    expect(err).toContain(told);
    expect(err).toContain(`${advice} ${runId}`);
  }
});

test('why a run failed is told where its diff is asked for, and a diff that never landed is told as that', async () => {
  const failure = { code: 'CHECKS_NOT_FOUND', message: 'No checks.', advice: 'Name them.' };
  const { gateId: _gate, ...run } = response.run;
  fleet.answer('showRun', () => ({ ...response, run: { ...run, state: 'ended', result: 'failed', failure } }));
  fleet.answer('showDiff', () => ({ runId, state: 'none', files: [], diff: '', truncated: false }));
  expect((await flotilla('diff', runId)).err).toContain('CHECKS_NOT_FOUND: No checks.');
  fleet.answer('showDiff', () => ({ ...calls.showDiff.example.response, state: 'proposed' }));
  const { out, err } = await flotilla('diff', runId, '--raw');
  expect(out).toBe(calls.showDiff.example.response.diff);
  expect(err).toContain('has not landed: the run is ended: failed');
});
