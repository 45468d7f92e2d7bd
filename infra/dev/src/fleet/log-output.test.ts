import { expect, test } from 'vitest';
import { openLogOutput } from './log-output.ts';

function print(lines: readonly (object | string)[], json = false): readonly string[] {
  let text = '';
  const output = openLogOutput({ write: (more) => (text += more) }, json);
  for (const line of lines)
    output(
      typeof line === 'string' ? line : JSON.stringify({ level: 'info', time: '2030-01-01T10:20:30.400Z', ...line }),
    );
  return text.split('\n').slice(0, -1);
}
const moved = (state: string, more: object = {}) => ({ event: 'run_moved', run_id: 'run_1', state, ...more });

test('of a run a person reads when it begins, waits, goes on and ends, a short line each', () => {
  expect(
    print([
      moved('running', { step_id: 'open' }),
      { event: 'delivery_started', service: 'merger' },
      moved('running', { step_id: 'build' }),
      moved('at_gate', { step_id: 'approve' }),
      moved('running', { step_id: 'land' }),
      { event: 'http_answered', service: 'gateway' },
      moved('ended', { result: 'landed' }),
    ]),
  ).toEqual([
    '10:20:30 run_1 is under way: open',
    '10:20:30 run_1 waits at a gate: flotilla diff and approve',
    '10:20:30 run_1 goes on: land',
    '10:20:30 run_1 ended: landed',
  ]);
});

test('what is not as it should be is told with why, and a service that is ready', () => {
  expect(
    print([
      { event: 'service_ready', service: 'planner', port: 1 },
      { level: 'warn', event: 'broker_lost', service: 'router' },
      {
        level: 'error',
        event: 'delivery_settled',
        service: 'executor',
        stage: 'build',
        code: 'DISK_FULL',
        reason: 'x',
      },
      { level: 'error', event: 'request_failed', service: 'gateway', err: { message: 'oops', stack: 'at a\nat b' } },
    ]),
  ).toEqual([
    '10:20:30 planner is ready',
    '10:20:30 ! router broker lost',
    '10:20:30 ✗ executor delivery settled: build, DISK_FULL, x',
    '10:20:30 ✗ gateway request failed: oops',
  ]);
});

test('last words of a program that dies are told, and nothing that a terminal would obey', () => {
  expect(print(['Error: out of memory', '', '\u001b[2Jhello', '{"unlike":"a log"}'])).toEqual([
    'Error: out of memory',
    ' [2Jhello',
    '{"unlike":"a log"}',
  ]);
});

test('a program gets every line as it came', () => {
  const line = '{"level":"debug","event":"anything"}';
  expect(print([line, 'plain'], true)).toEqual([line, 'plain']);
});
