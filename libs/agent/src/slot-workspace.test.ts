import { expect, test } from 'vitest';
import { openSlotWorkspace, type SlotShape } from './slot-workspace.ts';

const text = 'ä'.repeat(10);

/** A slot that records what it was asked; the real one is proven against containers. */
function slotOf(run: SlotShape['run']): SlotShape {
  return {
    run,
    files: {
      resolve: (path) => path.replace('/workspace/', ''),
      stat: () => ({ sizeBytes: 20 }),
      read: (_, { limitBytes }) =>
        Promise.resolve({ text: new TextDecoder().decode(new TextEncoder().encode(text).slice(0, limitBytes)) }),
      readBytes: () => Promise.resolve(new TextEncoder().encode(text)),
      write: () => Promise.resolve({ created: true }),
      delete: () => Promise.resolve(undefined),
      list: () => Promise.resolve({ entries: [] }),
      glob: () => Promise.resolve({ paths: ['a'], truncated: true }),
      grep: (pattern, options) =>
        Promise.resolve({
          lines: [{ path: `${pattern} ${String(options.fixed)}`, line: 1, text: '' }],
          truncated: false,
        }),
    },
  };
}

const ended = { exitCode: 0, output: '', truncated: false, timedOut: false, reason: undefined, durationMs: 1 };
const options = { timeoutMs: 1, limitBytes: 1, signal: new AbortController().signal };

test('a part of a file is never mistaken for the whole', async () => {
  const workspace = openSlotWorkspace(slotOf(() => Promise.resolve(ended)));
  const part = await workspace.read('a', 5);
  expect(part.sizeBytes).toBeGreaterThan(part.bytes.byteLength);
  expect(await workspace.read('a', 20)).toEqual({ bytes: new TextEncoder().encode(text), sizeBytes: 20 });
});

test('a literal search is passed on as fixed text, a regular expression is not', async () => {
  const workspace = openSlotWorkspace(slotOf(() => Promise.resolve(ended)));
  const search = { pattern: 'p', ignoreCase: false, path: '.', limit: 1 };
  expect((await workspace.grep({ ...search, regex: false })).items[0]?.path).toBe('p true');
  expect((await workspace.grep({ ...search, regex: true })).items[0]?.path).toBe('p false');
});

test('every command gets the surroundings of the step', async () => {
  const seen: unknown[] = [];
  const slot = slotOf((command, given) => {
    seen.push([command, given]);
    return Promise.resolve(ended);
  });
  await openSlotWorkspace(slot, { environment: { CI: '1' }, path: ['.venv/bin'] }).run({ shell: 'x' }, options);
  expect(seen).toEqual([[{ shell: 'x' }, { environment: { CI: '1' }, path: ['.venv/bin'], ...options }]]);
});

test('a command that was aborted throws the reason, whatever the slot says of it', async () => {
  const workspace = openSlotWorkspace(slotOf(() => Promise.resolve({ ...ended, exitCode: 137 })));
  await expect(
    workspace.run({ shell: 'x' }, { ...options, signal: AbortSignal.abort(new Error('lost')) }),
  ).rejects.toThrow('lost');
});
