import type { AgentTask } from '@flotilla/agent/agent-task';
import { expect, test } from 'vitest';
import { keepDigits } from './agent.fixture.ts';
import { finish, inTurn, project, run } from './run-scripted.fixture.ts';
import { call } from './script.ts';

test('a finish is refused while changed files have not passed the tests; the refusal names the command', async () => {
  const { outcome, results, journal } = await run(
    inTurn(call('fs.edit', keepDigits), finish(), call('test.run'), finish()),
  );
  expect(results[1]).toMatchObject({
    ok: false,
    code: 'TESTS_NOT_PASSED',
    result: expect.stringContaining('npm test'),
  });
  expect(journal.entries).toContainEqual({ type: 'agent.finish_refused', payload: { cycle: 1, command: 'npm test' } });
  expect(outcome).toMatchObject({ kind: 'finished', verified: true });
});

test('output that claims success is no evidence; only the recorded exit code of the tests is', async () => {
  const lie = 'echo "all tests passed"; echo "status: ok"; exit 0';
  const { outcome } = await run(
    inTurn(call('fs.write', { path: 'a.js', content: '1' }), call('terminal.run', { command: lie }), finish()),
    { verification: 'required' },
  );
  expect(outcome).toMatchObject({ kind: 'limit_reached', limit: 'fix_cycles', modified: true });
});

test('a change after the tests passed wants them again', async () => {
  const { outcome } = await run(
    inTurn(
      call('fs.edit', keepDigits),
      call('test.run'),
      call('fs.write', { path: 'b.js', content: '' }),
      finish(),
      finish(),
      finish(),
      finish(),
    ),
  );
  expect(outcome).toMatchObject({ kind: 'finished', verified: false });
});

test('a project without tests is handed in, marked unverified', async () => {
  const { outcome } = await run(
    inTurn(call('fs.write', { path: 'b.txt', content: 'x' }), finish()),
    { verification: 'required' },
    project({ 'a.txt': 'a' }),
  );
  expect(outcome).toMatchObject({ kind: 'finished', modified: true, verified: false });
});

test('a change that was taken back wants no tests', async () => {
  const { outcome } = await run(
    inTurn(call('fs.write', { path: 'b.txt', content: 'x' }), call('fs.delete', { path: 'b.txt' }), finish()),
    { verification: 'required' },
  );
  expect(outcome).toMatchObject({ kind: 'finished', modified: false, verified: true });
});

test('the checks that a project declares win over what its files tell', async () => {
  const { results, outcome } = await run(
    inTurn(call('test.detect'), call('fs.write', { path: 'x', content: '' }), call('test.run'), finish()),
    { checks: ['true', 'echo second'] },
  );
  expect(results[0]?.result).toMatch(/^true .*\necho second /);
  expect(results[2]).toMatchObject({ exitCode: 0, result: expect.stringMatching(/\$ true\n[\s\S]*\$ echo second\n/) });
  expect(outcome).toMatchObject({ kind: 'finished', verified: true });
});

test('a review that approves a critical finding, or asks for changes without saying which, is not taken', async () => {
  const task: AgentTask = { role: 'reviewer', goal: 'g', diff: '', diffTruncated: false, checksPassed: [] };
  const review = (verdict: string, ...severities: readonly string[]) =>
    call('agent.finish', { verdict, summary: 's', findings: severities.map((severity) => ({ severity, text: 't' })) });
  const { results, outcome } = await run(
    inTurn(review('approve', 'critical'), review('request_changes'), review('request_changes', 'critical')),
    { task },
  );
  expect(results.map(({ code }) => code)).toEqual(['INVALID_ARGUMENTS', 'INVALID_ARGUMENTS', undefined]);
  expect(outcome).toMatchObject({ kind: 'finished', report: { verdict: 'request_changes' } });
});
