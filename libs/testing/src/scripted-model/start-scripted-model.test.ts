import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { keepDigits } from './agent.fixture.ts';
import { engineerScript } from './engineer-script.ts';
import { text } from './script.ts';
import { startScriptedModel } from './start-scripted-model.ts';

const body = {
  model: 'scripted',
  stream: true,
  messages: [
    { role: 'system', content: 'role: executor\n' },
    { role: 'user', content: 'The goal:\n<data-n1 name="goal">\nKeep digits.\n</data-n1>' },
  ],
  tools: ['fs__list', 'fs__read', 'fs__edit', 'test__run', 'agent__finish'].map((name) => ({
    type: 'function',
    function: { name, parameters: { type: 'object' } },
  })),
};

function ask(url: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  return fetch(`${url}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
}

async function serve(options: Parameters<typeof startScriptedModel>[0]) {
  const server = await startScriptedModel(options);
  onTestFinished(() => server.close());
  return server;
}

test('an answer is server-sent events that end with usage and [DONE]', async () => {
  const { url } = await serve({ script: engineerScript({ edits: [keepDigits] }) });
  const response = await ask(url);
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  const events = (await response.text()).trim().split('\n\n');
  expect(events.at(-1)).toBe('data: [DONE]');
  expect(JSON.parse(events.at(-2)?.slice(6) ?? '')).toMatchObject({
    choices: [],
    usage: { prompt_tokens: expect.any(Number) },
  });
  expect(JSON.parse(events.at(-3)?.slice(6) ?? '')).toMatchObject({ choices: [{ finish_reason: 'tool_calls' }] });
});

test('it answers the same conversation the same way again, and after a restart', async () => {
  const script = engineerScript({ edits: [keepDigits] });
  const first = await serve({ script });
  const once = await (await ask(first.url)).text();
  const second = await serve({ script });
  const withoutIds = (events: string) => events.replaceAll(/scripted-\d+/g, 'scripted-n');
  expect(withoutIds(await (await ask(first.url)).text())).toBe(withoutIds(once));
  expect(withoutIds(await (await ask(second.url)).text())).toBe(withoutIds(once));
});

test('it lists its model, refuses a wrong key, and knows nothing else', async () => {
  const { url } = await serve({ script: () => text('Hi.'), apiKey: 'right' });
  const right = { authorization: 'Bearer right' };
  expect(await (await fetch(`${url}/models`, { headers: right })).json()).toMatchObject({ data: [{ id: 'scripted' }] });
  expect((await fetch(`${url}/models`)).status).toBe(401);
  expect((await ask(url, { authorization: 'Bearer wrong' })).status).toBe(401);
  expect((await fetch(`${url}/embeddings`, { headers: right })).status).toBe(404);
});

test('a request that is none is an error, and the server lives on', async () => {
  const { url } = await serve({ script: () => text('Hi.') });
  expect((await fetch(`${url}/chat/completions`, { method: 'POST', body: '{' })).status).toBe(500);
  expect((await ask(url)).status).toBe(200);
});

test('the engineer takes the edits of the task whose words the goal contains', async () => {
  const other = { ...keepDigits, path: 'other.js' };
  const { url } = await serve({
    script: engineerScript({ edits: [other], tasks: [{ goalIncludes: 'digits', edits: [keepDigits] }] }),
  });
  const planned = { ...body, tools: [], messages: [{ role: 'system', content: 'role: planner' }, body.messages[1]] };
  const response = await fetch(`${url}/chat/completions`, { method: 'POST', body: JSON.stringify(planned) });
  const events = (await response.text()).replaceAll(/^data: /gm, '');
  const written = events
    .match(/"arguments":"((?:[^"\\]|\\.)*)"/g)
    ?.map((part) => JSON.parse(`{${part}}`).arguments as string)
    .join('');
  expect(written).toContain('slugify.js');
  expect(written).not.toContain('other.js');
});

test('it runs as a process of its own, says where, and ends when it is told', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'flotilla-scripted-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const script = join(directory, 'script.json');
  writeFileSync(script, JSON.stringify({ edits: [keepDigits] }));
  const main = fileURLToPath(new URL('main.ts', import.meta.url));
  const child = spawn(process.execPath, ['--conditions=@flotilla/source', main, '--port', '0', '--script', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const { url } = JSON.parse(line) as { readonly url: string };
  expect((await ask(url)).status).toBe(200);
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([0, null]);
});
