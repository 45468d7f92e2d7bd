import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runAgent, type AgentInput } from '@flotilla/agent/run-agent';
import { expect, onTestFinished, test } from 'vitest';
import { keepDigits, makeProject, modelAt, openMemoryJournal, portsFor, ProcessDied } from './agent.fixture.ts';
import { engineerScript } from './engineer-script.ts';
import { startScriptedModel } from './start-scripted-model.ts';

const input: AgentInput = {
  task: { role: 'executor', goal: 'Make slugify keep digits.', feedback: [] },
  grants: Object.fromEntries(
    ['fs.read', 'fs.list', 'fs.glob', 'fs.edit', 'terminal.run', 'test.run'].map((id) => [id, true]),
  ),
  mode: 'auto',
  allowance: { turns: 30, calls: 90, tokens: 500_000, microdollars: 0, seconds: 300 },
  verification: 'required',
  nonce: 'k3v9',
  signal: new AbortController().signal,
};

/** One append after which the process dies; half of them just before the entries are durable. */
const deaths = [2, 5, 7, 9, 10, 11, 12, 13, 14, 15].map((append, index) => ({ append, durable: index % 2 === 0 }));

test.each(deaths)(
  'killed at append $append (durable: $durable), a new process goes on in a new workspace and ends well',
  async (death) => {
    const server = await startScriptedModel({
      script: engineerScript({ edits: [keepDigits], commands: ['echo once >> log.txt'] }),
    });
    onTestFinished(() => server.close());
    using project = makeProject();
    const journal = openMemoryJournal([], death);
    await expect(runAgent(input, portsFor(project, modelAt(server.url), { journal }))).rejects.toThrow(ProcessDied);
    const last = journal.entries.findLast((entry) => entry.type === 'agent.checkpoint');
    project.restore(last?.type === 'agent.checkpoint' ? last.payload.tree : null);
    const outcome = await runAgent(input, portsFor(project, modelAt(server.url), { journal: journal.reopen() }));
    expect(outcome).toMatchObject({ kind: 'finished', modified: true, verified: true });
    expect(readFileSync(join(project.root, 'slugify.js'), 'utf8')).toContain('a-z0-9');
    expect(readFileSync(join(project.root, 'log.txt'), 'utf8')).toBe('once\n');
  },
);
