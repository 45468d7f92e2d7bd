import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { keepDigits } from './agent.fixture.ts';
import { finish, inTurn, project, run } from './run-scripted.fixture.ts';
import { call } from './script.ts';

test('arguments that do not fit are a result that names the argument and the signature', async () => {
  const calls = [{ path: 'a', limit: true }, { path: 'a', extra: 1 }, '{"path": "a'].map((args) => ({
    tool: 'fs.read',
    arguments: args,
  }));
  const { results } = await run(inTurn({ kind: 'calls', calls }, finish()));
  expect(results).toMatchObject([
    {
      code: 'INVALID_ARGUMENTS',
      result: expect.stringMatching(/limit: .*fs__read\(path: string, offset\?: integer, limit\?: integer\)/s),
    },
    { code: 'INVALID_ARGUMENTS', result: expect.stringContaining('extra') },
    { code: 'INVALID_ARGUMENTS', result: expect.stringContaining('JSON') },
    { ok: true },
  ]);
});

test('an oddly written tool name runs and is kept under its own id', async () => {
  const { results } = await run(inTurn(call('FS-List'), call('finish', { summary: 'Done.' })));
  expect(results).toMatchObject([
    { tool: 'fs.list', ok: true },
    { tool: 'agent.finish', ok: true },
  ]);
});

test('paths outside, missing files and binary files are results', async () => {
  const { results } = await run(
    inTurn(
      call('fs.read', { path: '../../etc/passwd' }),
      call('fs.read', { path: 'none' }),
      call('fs.read', { path: 'bytes' }),
      finish(),
    ),
    {},
    project({ bytes: '\0\u0001' }),
  );
  expect(results.map(({ code }) => code)).toEqual(['PATH_REFUSED', 'FILE_MISSING', 'FILE_NOT_TEXT', undefined]);
});

test('a command that fails is data, not a failure', async () => {
  const { results } = await run(inTurn(call('terminal.run', { command: 'echo oh; exit 3' }), finish()));
  expect(results[0]).toMatchObject({ ok: true, exitCode: 3, result: expect.stringContaining('oh') });
});

test('a command out of time is killed with all it started', async () => {
  const { results } = await run(
    inTurn(call('terminal.run', { command: 'sleep 600 & sleep 600', timeout_seconds: 1 }), finish()),
  );
  expect(results[0]).toMatchObject({ ok: true, result: expect.stringContaining('out of time') });
  expect(results[0]).not.toHaveProperty('exitCode');
});

test('a long result is cut with a mark that says how much is missing', async () => {
  const { results } = await run(inTurn(call('terminal.run', { command: 'seq 1 20000' }), finish()));
  expect(results[0]?.result.length).toBeLessThan(16_200);
  expect(results[0]?.result).toMatch(/\[… \d+ characters left out …\]/);
  expect(results[0]?.result).toContain('20000');
});

test('git tools tell what changed since the step began, new files included', async () => {
  const scratch = project();
  const git = (...argv: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...argv], { cwd: scratch.root });
  git('init', '--quiet');
  git('add', '--all');
  git('commit', '--quiet', '--message', 'Begin');
  const edits = [
    { tool: 'fs.edit', arguments: keepDigits },
    { tool: 'fs.write', arguments: { path: 'new file.txt', content: 'new text' } },
  ];
  const looks = [
    { tool: 'git.status', arguments: {} },
    { tool: 'git.diff', arguments: {} },
    { tool: 'git.diff', arguments: { path: 'slugify.js' } },
    { tool: 'git.log', arguments: {} },
  ];
  const { results } = await run(
    inTurn({ kind: 'calls', calls: [...edits, ...looks] }, finish()),
    { verification: 'off' },
    scratch,
  );
  const [, , status, diff, part, log] = results.map(({ result }) => result);
  expect(status).toMatch(/ M slugify\.js[\s\S]*\?\? "?new file\.txt/);
  expect(diff).toContain('+new text');
  expect(diff).toContain('a-z0-9');
  expect(part).not.toContain('new text');
  expect(log).toContain('Begin');
});

test('the checklist is kept whole as it was written last', async () => {
  const items = [
    { text: 'Read', status: 'completed' },
    { text: 'Write', status: 'in_progress' },
  ] as const;
  const { journal } = await run(inTurn(call('todo.write', { items: [...items] }), finish()));
  expect(journal.entries).toContainEqual({ type: 'agent.todo', payload: { items } });
});
