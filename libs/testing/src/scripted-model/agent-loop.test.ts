import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentTask } from '@flotilla/agent/agent-task';
import { runAgent } from '@flotilla/agent/run-agent';
import { expect, test } from 'vitest';
import { keepDigits, modelAt, portsFor } from './agent.fixture.ts';
import { engineerScript } from './engineer-script.ts';
import { finish, inTurn, inputOf, project, readOnly, run, serve } from './run-scripted.fixture.ts';
import { call } from './script.ts';

test('the executor reads, edits, tests and hands in a verified change', async () => {
  const { outcome, scratch, journal } = await run(engineerScript({ edits: [keepDigits] }));
  expect(outcome).toMatchObject({
    kind: 'finished',
    modified: true,
    verified: true,
    report: { role: 'executor' },
    spent: { microdollars: null },
  });
  expect(readFileSync(join(scratch.root, 'slugify.js'), 'utf8')).toContain('a-z0-9');
  const tools = journal.entries.flatMap((entry) => (entry.type === 'tool.finished' ? [entry.payload.tool] : []));
  expect(tools).toEqual(['fs.list', 'fs.glob', 'fs.read', 'fs.read', 'fs.edit', 'test.run', 'agent.finish']);
});

test.each([
  [
    { role: 'planner', goal: 'Keep digits.' },
    { role: 'planner', plan: expect.stringContaining('1. Correct slugify.js') },
  ],
  [
    {
      role: 'reviewer',
      goal: 'Keep digits.',
      diff: '--- a/slugify.js\n+++ b/slugify.js\n',
      diffTruncated: false,
      checksPassed: ['npm test'],
    },
    { role: 'reviewer', verdict: 'approve', findings: [{ severity: 'suggestion', path: 'slugify.js' }] },
  ],
  [
    { role: 'scribe', goal: 'Keep digits.', result: 'landed', timeline: 'built' },
    { role: 'scribe', summary: 'The goal was met: Keep digits.', memories: [{ kind: 'learning' }] },
  ],
] satisfies [AgentTask, object][])('the scripted engineer does its part as %j', async (task, report) => {
  const { outcome } = await run(engineerScript({ edits: [keepDigits] }), { task, grants: readOnly });
  expect(outcome).toMatchObject({ kind: 'finished', modified: false, verified: true, report });
});

test('a finish in the last turn counts', async () => {
  const { outcome } = await run(inTurn(call('fs.list'), finish()), { allowance: { ...inputOf().allowance, turns: 2 } });
  expect(outcome.kind).toBe('finished');
});

test('a finished journal gives the same outcome again without asking anybody', async () => {
  const { outcome, journal, server, scratch } = await run(engineerScript({ edits: [keepDigits] }));
  const asked = server.requests.length;
  expect(await runAgent(inputOf(), portsFor(scratch, modelAt(server.url), { journal: journal.reopen() }))).toEqual(
    outcome,
  );
  expect(server.requests).toHaveLength(asked);
});

test('every model call and tool call is a span of its own', async () => {
  const server = await serve(engineerScript({ edits: [keepDigits] }));
  const spans: string[] = [];
  const trace = {
    async span<Value>(
      name: string,
      attributes: object,
      work: (set: (more: object) => void) => Promise<Value>,
    ): Promise<Value> {
      const all = { ...attributes };
      try {
        return await work((more) => Object.assign(all, more));
      } finally {
        spans.push(`${name} ${'gen_ai.usage.input_tokens' in all ? 'usage' : ''}`.trim());
      }
    },
  };
  await runAgent(inputOf(), portsFor(project(), modelAt(server.url), { trace }));
  expect(spans).toEqual([
    'chat scripted usage',
    'execute_tool fs.list',
    'execute_tool fs.glob',
    'chat scripted usage',
    'execute_tool fs.read',
    'execute_tool fs.read',
    'chat scripted usage',
    'execute_tool fs.edit',
    'chat scripted usage',
    'execute_tool test.run',
    'chat scripted usage',
    'execute_tool agent.finish',
  ]);
});
