import { Problem } from '@flotilla/contracts/problem';
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

test.each<[readonly string[], number, string]>([
  [['nonsense'], 2, 'unknown command'],
  [['submit'], 2, "missing required argument 'goal'"],
  [['submit', 'x'], 2, '--project'],
  [['show', 'run_1'], 2, 'a run id looks like'],
  [['list', '--limit', 'many'], 2, 'a whole number'],
  [['list', '--nonsense'], 2, 'unknown option'],
  [['list', '--state', 'nope'], 2, 'one of running, at_gate, awaiting_turn, cancelling, ended'],
  [['list', '--before', 'x'], 2, 'a run id looks like'],
  [['submit', '-p', 'a', ' '], 2, 'say what is wanted'],
  [['project', 'add', 'a', '--remote', '/a', '--unchecked', '--check', 'x'], 2, 'contradict one another'],
])('%j ends with %d', async (argv, code, said) => {
  const { exitCode, err } = await flotilla(...argv);
  expect(exitCode).toBe(code);
  expect(err).toContain(said);
  const [fault, advice, ...rest] = err.trimEnd().split('\n');
  expect(fault).toMatch(/^error [A-Z_]+: /);
  const verb = argv[0] === 'nonsense' ? '' : `${argv.slice(0, argv[0] === 'project' ? 2 : 1).join(' ')} `;
  expect(advice).toContain(`See "flotilla ${verb}--help"`);
  expect(rest).toEqual([]);
});

test.each([
  ['nope'],
  ['submit'],
  ['list', '--nonsense'],
  ['project'],
  ['project', 'add', 'a', '--remote', '/a', '--unchecked', '--check', 'x'],
  ['show', 'run_1'],
  ['list', '-n', '501'],
])('a fault of the command line is one JSON document with --json: %s', async (...argv) => {
  const { exitCode, out, err } = await flotilla(...argv, '--json');
  expect([exitCode, out]).toEqual([2, '']);
  const told = Problem.parse(JSON.parse(err));
  expect(told).toMatchObject({ code: expect.stringMatching(/^[A-Z_]+$/), advice: expect.stringMatching(/\.$/) });
  expect(told.detail).not.toBe('');
  expect(`${told.detail} ${told.advice}`).not.toMatch(/\n| {2}/);
});

test.each(['0', '501', '1.5', 'many', ''])('a limit of %j is refused with the range', async (limit) => {
  for (const verb of ['list', 'gates', `events ${runId}`, `output ${runId}`, 'dead list', 'project list']) {
    const { exitCode, err } = await flotilla(...verb.split(' '), '-n', limit);
    expect([exitCode, err]).toEqual([2, expect.stringContaining('a whole number from 1 to 500')]);
  }
  expect((await flotilla('list', '--help')).out).toMatch(/1 to\s+500/);
});

test('no hint has a gap in it', async () => {
  const { exitCode, err } = await run(['list', '--url', 'ftp://x'], { environment });
  expect([exitCode, err]).toEqual([2, expect.stringContaining('ftp://x is not an http')]);
  expect(err.replace(/^ {2}/gm, '')).not.toContain('  ');
});

test.each([
  ['--unchecked', '--check', ['--unchecked', '--check', 'npm test']],
  ['--setup', '--no-setup', ['--setup', 'make', '--no-setup']],
  ['--no-setup', '--setup', ['--no-setup', '--setup', 'make']],
  ['--token-file', '--token-env', ['--token-env', 'A', '--token-file', 'b']],
  ['--credential', '--ssh-key', ['--credential', 'a', '--ssh-key', 'b']],
])('%s with %s is refused in any order, naming both, and nothing is sent', async (one, other, options) => {
  const { exitCode, err } = await flotilla('project', 'add', 'a', '--remote', '/srv/a.git', ...options);
  expect(exitCode).toBe(2);
  expect(err).toContain(`${one} `);
  expect(err).toContain(`${other} `);
  expect(fleet.received).toEqual([]);
});

test.each([['--help'], ['--version'], ['project', '--help']])('%s is no fault', async (...argv) => {
  expect(await flotilla(...argv)).toMatchObject({ exitCode: 0, err: '' });
});

test.each<[readonly string[]]>([[[]], [['project']]])('without a verb %j prints what there is', async (argv) => {
  const { exitCode, err } = await flotilla(...argv);
  expect([exitCode, err]).toEqual([2, expect.stringContaining('Commands:')]);
});
