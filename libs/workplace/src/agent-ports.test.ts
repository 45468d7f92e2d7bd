import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { MemoryStepContext } from '@flotilla/testing/memory-step-context';
import { expect, test } from 'vitest';
import { bindJournal, splitCancel, bindLive } from './agent-ports.ts';

test('a person who cancels ends the agent in order', async () => {
  const context = new MemoryStepContext();
  const { stop, port } = splitCancel(context);
  expect(await port.read()).toEqual({ cancelled: false, steering: [] });
  context.cancel(new FlotillaError(errors.runCancelled, { runId: 'r' }));
  expect(port.cancelled.aborted).toBe(true);
  expect(stop.aborted).toBe(false);
  expect(await port.read()).toMatchObject({ cancelled: true });
});

test('whatever else ends a step stops the agent at once, with its reason, though nothing can be asked', () => {
  const context = Object.assign(new MemoryStepContext(), { cancelled: () => new Promise<boolean>(() => undefined) });
  const { stop, port } = splitCancel(context);
  const reason = new Error('the lease is lost');
  context.abort(reason);
  expect(stop.aborted).toBe(true);
  expect(stop.reason).toBe(reason);
  expect(port.cancelled.aborted).toBe(false);
});

test('a step that was over before it began stops too', () => {
  const context = new MemoryStepContext();
  context.abort(new Error('shutting down'));
  const { stop } = splitCancel(context);
  expect(stop.aborted).toBe(true);
});

test('what the agent appends is in the journal that it reads', async () => {
  const journal = bindJournal(new MemoryStepContext());
  await journal.append([{ type: 'agent.nudge', payload: { code: 'X', text: 'x' } }]);
  expect(await journal.read()).toMatchObject([{ type: 'agent.nudge', payload: { code: 'X' } }]);
});

test('each turn, and one that begins again, is marked where its words begin', () => {
  const said: string[] = [];
  const live = bindLive({ live: (text) => void said.push(text) });
  live.text(1, 'I ');
  live.text(1, 'look.');
  live.restart(1);
  live.text(1, 'I look.');
  live.text(2, 'Done.');
  expect(said).toEqual(['\fI ', 'look.', '\fI look.', '\fDone.']);
});
