import type { AgentTask } from '@flotilla/agent/agent-task';
import type { JournalEntry } from '@flotilla/agent/ports';
import { runAgent, type AgentInput } from '@flotilla/agent/run-agent';
import type { ModelOptions } from '@flotilla/model/create-model';
import { onTestFinished } from 'vitest';
import { makeProject, modelAt, openMemoryJournal, portsFor, type ScratchProject } from './agent.fixture.ts';
import { call, text, type Script } from './script.ts';
import { startScriptedModel, type ScriptedModel } from './start-scripted-model.ts';

const executor: AgentTask = { role: 'executor', goal: 'Make slugify keep digits.', feedback: [] };
const everything: AgentInput['grants'] = Object.fromEntries(
  [
    'fs.read',
    'fs.list',
    'fs.glob',
    'fs.grep',
    'fs.write',
    'fs.edit',
    'fs.delete',
    'terminal.run',
    'git.status',
    'git.diff',
    'git.log',
    'test.detect',
    'test.run',
    'todo.write',
  ].map((id) => [id, true]),
);
export const readOnly: AgentInput['grants'] = { 'fs.read': true, 'fs.list': true, 'fs.glob': true, 'fs.grep': true };
export const inputOf = (more: Partial<AgentInput> = {}): AgentInput => ({
  task: executor,
  grants: everything,
  mode: 'auto',
  allowance: { turns: 30, calls: 90, tokens: 500_000, microdollars: 0, seconds: 300 },
  verification: 'auto',
  nonce: 'k3v9',
  signal: new AbortController().signal,
  ...more,
});

export async function serve(script: Script): Promise<ScriptedModel> {
  const server = await startScriptedModel({ script });
  onTestFinished(() => server.close());
  return server;
}

export function project(files?: Readonly<Record<string, string>>): ScratchProject {
  const made = makeProject(files);
  onTestFinished(() => made[Symbol.dispose]());
  return made;
}

/** One reply a turn, by the number of turns the conversation already has; the last one again and again. */
export const inTurn =
  (...replies: readonly ReturnType<Script>[]): Script =>
  (conversation) => {
    const turn = conversation.messages.filter(({ role }) => role === 'assistant').length;
    return replies[Math.min(turn, replies.length - 1)] ?? text('');
  };
export const finish = (summary = 'Done.') => call('agent.finish', { summary });

export async function run(
  script: Script,
  more: Partial<AgentInput> = {},
  scratch = project(),
  options: Partial<ModelOptions> = {},
) {
  const server = await serve(script);
  const journal = openMemoryJournal();
  const outcome = await runAgent(inputOf(more), portsFor(scratch, modelAt(server.url, options), { journal }));
  return {
    outcome,
    journal,
    server,
    scratch,
    results: journal.entries.flatMap((entry) => (entry.type === 'tool.finished' ? [entry.payload] : [])),
  };
}

export const codesOf = (entries: readonly JournalEntry[]) =>
  entries.flatMap((entry) => (entry.type === 'agent.nudge' ? [entry.payload.code] : []));
