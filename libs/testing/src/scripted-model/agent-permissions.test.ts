import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runAgent, type AgentInput } from '@flotilla/agent/run-agent';
import { expect, test } from 'vitest';
import { keepDigits, modelAt, openMemoryJournal, portsFor } from './agent.fixture.ts';
import { engineerScript } from './engineer-script.ts';
import { finish, inTurn, inputOf, project, readOnly, run, serve } from './run-scripted.fixture.ts';
import { call } from './script.ts';

test('a verdict is in the journal before its tool runs, and no call runs without one', async () => {
  const { journal } = await run(engineerScript({ edits: [keepDigits] }));
  const allowed = new Set<string>();
  for (const entry of journal.entries) {
    if (entry.type === 'tool.decided' && entry.payload.verdict === 'allow') allowed.add(entry.payload.callId);
    if (entry.type === 'tool.started') expect(allowed).toContain(entry.payload.callId);
  }
  expect(journal.entries.filter(({ type }) => type === 'agent.checkpoint')).toHaveLength(1);
});

test('only granted tools are offered, and a call of another is refused with the names of those that are', async () => {
  const { server, results, scratch } = await run(
    inTurn(call('fs.delete', { path: 'slugify.js' }), call('web.search', { q: 1 }), finish()),
    { grants: readOnly },
  );
  expect(server.requests[0]?.conversation.tools).toEqual(['fs.read', 'fs.list', 'fs.glob', 'fs.grep', 'agent.finish']);
  expect(results).toMatchObject([
    {
      tool: 'fs.delete',
      ok: false,
      code: 'NOT_GRANTED',
      result: expect.stringMatching(/fs__delete is not granted.*fs__read, fs__list/s),
    },
    { tool: 'web.search', ok: false, code: 'UNKNOWN_TOOL', result: expect.stringContaining('fs__read, fs__list') },
    { tool: 'agent.finish', ok: true },
  ]);
  expect(readFileSync(join(scratch.root, 'slugify.js'), 'utf8')).toContain('slugify');
});

test('an ask is refused with its own code, repeated or not', async () => {
  const { results } = await run(
    inTurn(call('fs.write', { path: 'a', content: '' }), call('fs.write', { path: 'a', content: '' }), finish()),
    { grants: { ...readOnly, 'fs.write': 'ask' } },
  );
  expect(results.map(({ code }) => code)).toEqual(['ASK_FIRST', 'ASK_FIRST', undefined]);
});

test('a mode that only reads offers no tool that changes anything', async () => {
  const { server } = await run(inTurn(finish()), { mode: 'plan' });
  expect(server.requests[0]?.conversation.tools).not.toEqual(expect.arrayContaining(['fs.write']));
  expect(server.requests[0]?.conversation.tools).not.toEqual(expect.arrayContaining(['test.run']));
});

test('what a grant leaves out is found by no search', async () => {
  const grants: AgentInput['grants'] = {
    'fs.grep': { exclude: ['secret/**'] },
    'fs.glob': { exclude: ['secret/**'] },
    'fs.list': true,
  };
  const files = { 'open/a.txt': 'token one', 'secret/b.txt': 'token two' };
  const { results } = await run(
    inTurn(call('fs.grep', { pattern: 'token' }), call('fs.glob', { pattern: '**/*.txt' }), finish()),
    { grants },
    project(files),
  );
  expect(results.map(({ result }) => result).join('\n')).toContain('open/a.txt');
  expect(results.map(({ result }) => result).join('\n')).not.toContain('secret/b.txt');
});

test('narrowed grants hold from the next call on, and widened ones never', async () => {
  const server = await serve(
    inTurn(
      call('fs.write', { path: 'a', content: '' }),
      call('fs.write', { path: 'b', content: '' }),
      call('fs.delete', { path: 'a' }),
      finish(),
    ),
  );
  const journal = openMemoryJournal();
  const signals = {
    cancelled: new AbortController().signal,
    read: () =>
      Promise.resolve({
        cancelled: false,
        steering: [],
        ...(journal.entries.some(({ type }) => type === 'tool.finished')
          ? { grants: { 'fs.delete': true, 'fs.read': true } }
          : {}),
      }),
  };
  await runAgent(
    inputOf({ grants: { 'fs.write': true }, verification: 'off' }),
    portsFor(project(), modelAt(server.url), { journal, signals }),
  );
  expect(
    journal.entries.flatMap((entry) => (entry.type === 'tool.finished' ? [entry.payload.code ?? 'ok'] : [])),
  ).toEqual(['ok', 'NOT_GRANTED', 'NOT_GRANTED', 'ok']);
});
