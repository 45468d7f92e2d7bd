import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { calls } from '@flotilla/contracts/call-catalogue';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { beforeEach, expect, test } from 'vitest';
import { createFleetFixture, type FleetFixture, run, token } from './fleet.fixture.ts';

let fleet: FleetFixture;
let environment: Record<string, string>;
beforeEach(async () => {
  fleet = await createFleetFixture();
  environment = { FLOTILLA_URL: fleet.url, FLOTILLA_TOKEN: token };
  return () => fleet.close();
});

const flotilla = (...argv: string[]) => run(argv, { environment });
const runId = 'run_01j9z3k8m2n4p6q8r0s2t4v6w8';

test.runIf(existsSync('/dev/full'))('output that cannot be written is an error with a code, not a crash', () => {
  const full = openSync('/dev/full', 'w');
  const cli = fileURLToPath(new URL('cli.ts', import.meta.url));
  const { status, stderr } = spawnSync(process.execPath, ['--conditions=@flotilla/source', cli, '--help'], {
    stdio: ['ignore', full, 'pipe'],
    encoding: 'utf8',
  });
  closeSync(full);
  expect(status).toBe(1);
  expect(stderr).toMatch(/^error OUTPUT_FAILED: .*ENOSPC.*\n {2}.*\n$/);
});

test.each([
  [errors.runUnknown, 3],
  [errors.roleMissing, 4],
  [errors.gateDecided, 4],
  [errors.requestInvalid, 2],
  [errors.storeUnavailable, 5],
  [errors.gatewayFailed, 1],
] as const)('an error of the fleet is told with its advice, and %o ends with %d', async (definition, code) => {
  fleet.answer('showRun', () => {
    throw new FlotillaError(definition, { runId });
  });
  const { exitCode, err } = await flotilla('show', runId);
  expect(exitCode).toBe(code);
  expect(err).toContain(definition.code);
  expect(err.split('\n')[1]?.trim()).not.toBe('');
  expect(JSON.parse((await flotilla('show', runId, '--json')).err)).toMatchObject({ code: definition.code });
});

test('a wrong token is a refusal, no fleet is unreachable, something else is not a fleet', async () => {
  expect((await run(['list'], { environment: { ...environment, FLOTILLA_TOKEN: 'x' } })).exitCode).toBe(4);
  expect((await run(['list'], { environment: { ...environment, FLOTILLA_URL: 'http://127.0.0.1:1' } })).exitCode).toBe(
    5,
  );
  fleet.answer('listRuns', () => ({ nonsense: true }));
  expect((await flotilla('list')).err).toContain('FLEET_ANSWER_UNREADABLE');
});

test('what came from a repository or a model cannot act on the terminal', async () => {
  const evil = '\u001b[2J\u202egoal\u0007\rx';
  fleet.answer('listRuns', () => ({ runs: [{ ...calls.listRuns.example.response.runs[0], goal: evil }] }));
  fleet.answer('showDiff', () => ({ ...calls.showDiff.example.response, diff: `+${evil}\n` }));
  fleet.answer('showOutput', () => ({
    outputs: [{ ...calls.showOutput.example.response.outputs[0], command: evil, output: evil }],
  }));
  fleet.answer('listEvents', () => ({
    entries: [{ ...calls.listEvents.example.response.entries[0], payload: { text: evil } }],
  }));
  fleet.answer('showDead', () => ({ ...calls.showDead.example.response, headers: { x: evil } }));
  for (const argv of [['list'], ['diff', runId], ['output', runId], ['events', runId], ['dead', 'show', '7']]) {
    const { out } = await flotilla(...argv);
    expect(out).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/);
    expect(out).toMatch(/\\u\{1b\}|\\u001b/);
  }
});
