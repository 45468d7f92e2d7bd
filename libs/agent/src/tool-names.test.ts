import fc from 'fast-check';
import { expect, test } from 'vitest';
import { roles } from './agent-task.ts';
import { defineTool } from './define-tool.ts';
import { signatureOf, toModelTool } from './describe-tool.ts';
import { writeSystemPrompt } from './prompts/system-prompt.ts';
import { tools, toolsOf } from './tool-catalogue.ts';
import { resolveToolName, toModelName } from './tool-names.ts';
import { findCapability } from '@flotilla/policy/capabilities';
import { z } from 'zod';

const ids = toolsOf('executor').map(({ id }) => id);

test('every id survives the way to a model and back, in the characters that providers take', () => {
  for (const id of ids) {
    expect(toModelName(id)).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(resolveToolName(toModelName(id), ids)).toBe(id);
  }
});

test('case, and how segments are joined, do not matter', () => {
  const spelt = fc
    .constantFrom(...ids)
    .chain((id) => fc.tuple(fc.constant(id), fc.constantFrom('.', '_', '-', '__', ' '), fc.boolean()));
  fc.assert(
    fc.property(spelt, ([id, join, upper]) => {
      const name = id.replaceAll('.', join);
      return resolveToolName(upper ? name.toUpperCase() : name, ids) === id;
    }),
  );
});

test.each([['run'], ['write'], ['fs'], [''], ['constructor'], ['fs.readx']])('%j means no tool', (name) => {
  expect(resolveToolName(name, ids)).toBeUndefined();
});

test.each([
  ['read', 'fs.read'],
  ['finish', 'agent.finish'],
  ['Grep', 'fs.grep'],
])('the last segment %j alone is enough where it is only one', (name, id) => {
  expect(resolveToolName(name, ids)).toBe(id);
});

test('any name at all becomes one that providers take', () => {
  fc.assert(fc.property(fc.string({ unit: 'grapheme' }), (name) => /^[a-zA-Z0-9_-]{1,64}$/.test(toModelName(name))));
});

test('the policy knows every tool as a capability, and takes for changing what changes', () => {
  for (const { id, capability, mutates } of tools)
    expect([id, findCapability(capability)?.mutates]).toEqual([id, mutates]);
});

test.each([['read'], ['FS.read'], ['fs.Read'], ['fs-x.read'], ['1fs.read'], ['fs..read'], ['fs.read__x']])(
  '%j is no id of a tool',
  (id) => {
    const declaration = {
      id,
      summary: '',
      parameters: z.strictObject({}),
      mutates: false,
      paths: () => [],
      describe: () => '',
      run: () => Promise.resolve({ ok: true, text: '' }),
    };
    expect(() => defineTool(declaration)).toThrow(TypeError);
  },
);

test.each(roles)('whatever a %s is told of its tools names them as they are called', (role) => {
  const all = toolsOf(role);
  const prompt = writeSystemPrompt(role, all, 'n');
  const declared = all.map((tool) => `${JSON.stringify(toModelTool(tool))} ${signatureOf(tool)}`).join('\n');
  for (const { id } of all) {
    expect(`${prompt}\n${declared}`).not.toContain(id);
    expect(prompt).toContain(toModelName(id));
  }
});
