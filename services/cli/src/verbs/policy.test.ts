import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { run } from '../fleet.fixture.ts';

const runWith = (argv: readonly string[], lines: readonly string[]) => {
  const input = new PassThrough();
  input.end(lines.join('\n'));
  return run(argv, { piped: input });
};
const answersOf = (out: string): readonly unknown[] =>
  out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);

test('commands are classified line by line without a fleet, and a line that cannot be read is answered too', async () => {
  const { exitCode, out, err } = await runWith(
    ['policy', 'classify', '--jsonl'],
    ['{"id":"a","command":"ls -la"}', 'not json', '', '{"id":7,"command":"sudo rm -rf /"}'],
  );
  expect({ exitCode, err }).toEqual({ exitCode: 0, err: '' });
  expect(answersOf(out)).toEqual([
    {
      id: 'a',
      class: 'READ_ONLY',
      classes: ['READ_ONLY'],
      verdict: 'allow',
      irreversible: false,
      reasons: expect.any(Array),
    },
    { id: null, error: expect.stringContaining('not JSON') },
    expect.objectContaining({ id: 7, class: 'PRIVILEGED', verdict: 'refuse' }),
  ]);
});

test('one command is told with its class, its verdict and why, its hidden signs shown', async () => {
  const { exitCode, out } = await run(['policy', 'classify', 'git push\u202e --force']);
  expect(exitCode).toBe(0);
  expect(out).toMatch(/^[A-Z_]+: (ask|refuse)/);
  expect(out).not.toContain('\u202e');
});

test('a command without a network is refused what needs one', async () => {
  const verdictOf = async (...more: readonly string[]): Promise<unknown> =>
    JSON.parse((await run(['policy', 'classify', 'curl https://example.com', '--json', ...more])).out);
  expect(await verdictOf()).toMatchObject({ verdict: 'ask' });
  expect(await verdictOf('--no-network')).toMatchObject({ verdict: 'refuse' });
});

test('what a command may do is said in words', async () => {
  const { exitCode, out } = await run(['policy', 'explain', 'rm -rf build']);
  expect(exitCode).toBe(0);
  expect(out).toContain('is DESTRUCTIVE');
});

test('calls are decided line by line without a fleet', async () => {
  const grants = { 'fs.write': { paths: ['src/**'] } };
  const line = (id: number, path: string) =>
    JSON.stringify({ id, mode: 'auto', grants, call: { tool: 'fs.write', path } });
  const { exitCode, out } = await runWith(
    ['policy', 'decide', '--jsonl'],
    [line(1, 'src/a.ts'), line(2, 'docs/a.md'), '{'],
  );
  expect(exitCode).toBe(0);
  expect(answersOf(out)).toMatchObject([
    { id: 1, verdict: 'allow' },
    { id: 2, verdict: 'deny' },
    { id: null, verdict: 'reject' },
  ]);
});

test('without a command and without lines it says what it wants', async () => {
  const { exitCode, err } = await run(['policy', 'classify']);
  expect(exitCode).toBe(2);
  expect(err).toContain('USAGE_INVALID');
  expect(err).toContain('--jsonl');
});
