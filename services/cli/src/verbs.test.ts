import { callCatalogue, calls } from '@flotilla/contracts/call-catalogue';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { beforeEach, expect, test } from 'vitest';
import { createFleetFixture, type FleetFixture, run, token } from './fleet.fixture.ts';
import { verbs } from './verbs.ts';

let fleet: FleetFixture;
let environment: Record<string, string>;
beforeEach(async () => {
  fleet = await createFleetFixture();
  environment = { FLOTILLA_URL: fleet.url, FLOTILLA_TOKEN: token };
  return () => fleet.close();
});

const flotilla = (...argv: string[]) => run(argv, { environment });
const runId = 'run_01j9z3k8m2n4p6q8r0s2t4v6w8';

test.each(verbs.map((verb) => [verb.name, verb] as const))(
  '%s has help with examples and exit codes',
  async (name, verb) => {
    const { exitCode, out } = await flotilla(...name.split(' '), '--help');
    expect(exitCode).toBe(0);
    expect(out).toContain('Exit codes:');
    expect(verb.examples.length).toBeGreaterThan(0);
    for (const { command } of verb.examples) expect(out).toContain(command);
  },
);

test('every call that names a verb is made by that verb', () => {
  for (const { name, cli } of callCatalogue) {
    if (cli === undefined) continue;
    const verb = verbs.find((each) => each.name === cli.verb);
    expect([name, verb?.calls]).toEqual([name, expect.arrayContaining([name])]);
  }
});

const withArguments: Readonly<Record<string, readonly string[]>> = {
  'project add': ['slugify', '--remote', '/srv/slugify.git'],
  'project show': ['slugify'],
  'project remove': ['slugify'],
  submit: ['Make slugify keep digits.', '--project', 'slugify'],
  show: [runId],
  diff: [runId],
  output: [runId],
  salvage: [runId],
  events: [runId],
  approve: [runId],
  'request-changes': [runId, 'Keep the name.'],
  decline: [runId],
  cancel: [runId],
  retry: [runId],
  'dead show': ['7'],
  'dead replay': ['7'],
};

const plain = verbs.filter(({ name, calls: made }) => made.length > 0 && name !== 'watch' && name !== 'doctor');

test.each(plain.map(({ name }) => name))(
  '%s prints the answer that its help names as one JSON document with --json',
  async (name) => {
    const { exitCode, out, err } = await flotilla(...name.split(' '), ...(withArguments[name] ?? []), '--json');
    expect([exitCode, err]).toEqual([0, '']);
    const [, call] = /^the answer of the call (\w+)/.exec(verbs.find((each) => each.name === name)?.json ?? '') ?? [];
    const { response } = callCatalogue.find((each) => each.name === call)!;
    expect(response.parse(JSON.parse(out))).toEqual(JSON.parse(out));
  },
);

test.each(plain.map(({ name }) => name))('%s prints text for a person without it', async (name) => {
  const { exitCode, out } = await flotilla(...name.split(' '), ...(withArguments[name] ?? []));
  expect(exitCode).toBe(0);
  expect(out.trim()).not.toBe('');
  expect(out).not.toContain('undefined');
  expect(() => JSON.parse(out) as unknown).toThrow();
});

test('submit prints the id of the run alone, for a script', async () => {
  expect((await flotilla('submit', '-p', 'slugify', 'Keep digits.')).out).toBe(`${runId}\n`);
  expect(fleet.received[0]?.request).toEqual({ goal: 'Keep digits.', project: 'slugify' });
});

test('an empty dead letter and one too large to keep are told apart', async () => {
  const { response } = calls.showDead.example;
  fleet.answer('showDead', () => ({ ...response, payload: '', payloadBytes: 0 }));
  expect((await flotilla('dead', 'show', '7')).out).toContain('the message is empty');
  fleet.answer('showDead', () => ({ ...response, payload: '{"goal', payloadBytes: 300_000, truncated: true }));
  expect((await flotilla('dead', 'show', '7')).out).toMatch(/300000 bytes[^]*\{\\"goal/);
});

test('a diff for git apply is byte for byte', async () => {
  const { out } = await flotilla('diff', runId, '--raw');
  expect(out).toBe(calls.showDiff.example.response.diff);
});

test.each([
  ['running', undefined, 'running: build'],
  ['at_gate', undefined, 'at_gate'],
  ['awaiting_turn', undefined, 'awaiting_turn'],
  ['cancelling', undefined, 'cancelling'],
  ['ended', 'no_changes', 'ended: no_changes'],
] as const)('a run that is %s %s is listed and shown with the words of the filters', async (state, result, shown) => {
  const { result: _, ...run } = calls.listRuns.example.response.runs[0]!;
  const listed = { ...run, state, stepId: result === undefined ? 'build' : undefined, result };
  fleet.answer('listRuns', () => ({ runs: [listed] }));
  fleet.answer('showRun', () => ({ ...calls.showRun.example.response, run: listed, gate: undefined }));
  for (const argv of [['list'], ['show', runId]]) {
    const { out } = await flotilla(...argv);
    expect(out).toMatch(new RegExp(` ${shown}( |\n)`));
    expect((await flotilla(argv[0]!, '--help')).out).toContain(shown.replace(/: .*/, ':'));
  }
});

test('hints and help name the command as it was typed', async () => {
  const typed = { ...environment, npm_lifecycle_event: 'npx' };
  expect((await run(['list', '--help'], { environment: typed })).out).toMatch(
    /^Usage: npx flotilla list[^]*\n {2}npx flotilla list --state at_gate\n/,
  );
  fleet.answer('showProject', () => {
    throw new FlotillaError(errors.projectUnknown, { project: 'shop' });
  });
  expect((await run(['project', 'show', 'shop'], { environment: typed })).err).toContain('"npx flotilla project list"');
  expect((await run(['show', runId], { environment: typed })).out).toContain(`npx flotilla approve ${runId}`);
  expect((await run(['nonsense', '--json'], { environment: typed })).err).toContain('npx flotilla --help');
});

test('what was decided at gates is shown with who decided it, when, and their words', async () => {
  const decided = calls.showRun.example.response.decisions![0]!;
  const { out } = await flotilla('show', runId);
  expect(out).toContain(
    `changes requested by anna at ${decided.at}, commit ${decided.commit}\n  Keep the old name as an alias.`,
  );
  const [gate] = calls.listGates.example.response.gates;
  const { decision, by, comment } = decided;
  fleet.answer('listGates', () => ({
    gates: [{ ...gate, state: 'decided', decidedAt: decided.at, decision, by, comment }],
  }));
  expect((await flotilla('gates', '--state', 'decided')).out).toMatch(
    /changes requested +anna +Keep the old name as an alias\./,
  );
});
