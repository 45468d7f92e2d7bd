import { PassThrough } from 'node:stream';
import { calls } from '@flotilla/contracts/call-catalogue';
import type { LogEvent } from '@flotilla/contracts/calls/log-event';
import type { EventContract } from '@flotilla/contracts/define-event';
import { ToolFinished, ToolStarted, TurnTaken } from '@flotilla/contracts/events/journal-events';
import {
  GateDecided,
  GateOpened,
  RunEnded,
  StepCompletedEvent,
  StepRequestedEvent,
  TaskAccepted,
} from '@flotilla/contracts/events/run-events';
import { StepStarted } from '@flotilla/contracts/events/step-events';
import { Problem } from '@flotilla/contracts/problem';
import { eventCatalogue } from '@flotilla/contracts/log-entry';
import { RunId, StepId } from '@flotilla/contracts/ids';
import { beforeEach, expect, test } from 'vitest';
import { createFleetFixture, run, token } from '../fleet.fixture.ts';
import { choosePalette } from '../text/paint.ts';
import { describeEvent } from './describe-event.ts';
import { renderWatch } from './render-watch.ts';
import { foldWatch, startOfWatch, type WatchState } from './watch-state.ts';

const runId = RunId.parse('run_01j9z3k8m2n4p6q8r0s2t4v6w8');

function entry(sequence: number, { type, scope }: Pick<EventContract, 'type' | 'scope'>, payload: unknown): LogEvent {
  return {
    runId,
    sequence,
    type,
    payload,
    at: new Date(Date.UTC(2030, 0, 1) + sequence * 1000).toISOString(),
    ...(scope === 'step' || type.startsWith('step.') ? { stepId: StepId.parse('build'), attempt: 1 } : {}),
  };
}

const story = [
  [TaskAccepted, TaskAccepted.example],
  [StepRequestedEvent, StepRequestedEvent.example],
  [ToolStarted, ToolStarted.example],
  [ToolFinished, ToolFinished.example],
  [StepCompletedEvent, StepCompletedEvent.example],
  [GateOpened, GateOpened.example],
  [GateDecided, GateDecided.example],
  [RunEnded, RunEnded.example],
] as const;
const entries = story.map(([contract, payload], index) => entry(index + 1, contract, payload));
const frame = (each: LogEvent) =>
  `id: ${each.sequence}\nevent: entry\ndata: ${JSON.stringify({ event: 'entry', entry: each })}\n\n`;
const done = (result: string) => `event: done\ndata: ${JSON.stringify({ event: 'done', runId, result })}\n\n`;

let fleet: Awaited<ReturnType<typeof createFleetFixture>>;
let environment: Record<string, string>;
beforeEach(async () => {
  fleet = await createFleetFixture();
  environment = { FLOTILLA_URL: fleet.url, FLOTILLA_TOKEN: token };
  return () => fleet.close();
});

test.each(eventCatalogue.map((contract) => [contract.type, contract] as const))(
  '%s is told in one visible line, or is bookkeeping',
  (_, contract) => {
    const line = describeEvent(entry(1, contract, contract.example));
    expect(line?.text ?? '').not.toMatch(/[\u0000-\u001f]|undefined|\[object/);
  },
);

test.each([
  ['landed', 0],
  ['no_changes', 0],
  ['failed', 1],
  ['declined', 1],
  ['limit_reached', 1],
  ['cancelled', 1],
])('the exit code is the result: %s is %d', async (result, code) => {
  fleet.streamWith((send) => send(entries.map(frame).join('') + done(result)));
  expect((await run(['watch', runId], { environment })).exitCode).toBe(code);
});

test('without a terminal each event is one plain line', async () => {
  fleet.streamWith((send) => send(entries.map(frame).join('') + done('landed')));
  const { out } = await run(['watch', runId], { environment });
  const lines = out.trimEnd().split('\n');
  expect(lines).toHaveLength(6);
  expect(lines[0]).toMatch(/^\s+0\.0 s\s+task for slugify \(feature_builder\): Make slugify keep digits\.$/);
  expect(lines[1]).toMatch(/^\s+2\.0 s {2}build\s+fs\.read test\.js$/);
});

test('a step that ended is told with the time since it was first begun', async () => {
  const taken = (sequence: number, delivery: number) =>
    entry(sequence, StepStarted, { ...StepStarted.example, delivery });
  const ended = entry(14, StepCompletedEvent, StepCompletedEvent.example);
  const shown = [entry(1, StepRequestedEvent, StepRequestedEvent.example), taken(2, 1), taken(5, 2), ended];
  fleet.streamWith((send) => send(shown.map(frame).join('') + done('landed')));
  const { out } = await run(['watch', runId], { environment });
  expect(out.trimEnd().split('\n').at(-1)).toMatch(/build\s+cancelled, in 12 s, 1 turn, /);
});

test('as JSON each event is one document', async () => {
  fleet.streamWith((send) => send(entries.map(frame).join('') + done('landed')));
  const { out } = await run(['watch', runId, '--json'], { environment });
  const events = out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { event: string });
  expect(events.map(({ event }) => event)).toEqual([...entries.map(() => 'entry'), 'done']);
});

test('across broken connections every event comes once', async () => {
  let connections = 0;
  fleet.streamWith((send, last) => {
    connections += 1;
    const rest = entries.filter(({ sequence }) => sequence > last);
    send(rest.slice(0, 3).map(frame).join(''));
    if (rest.length <= 3) send(done('landed'));
    // Half a frame is cut off by the end of the connection.
    else send(`id: 99\nevent: entry\nda`);
  });
  const { exitCode, out, err } = await run(['watch', runId, '--json'], { environment });
  expect([exitCode, connections]).toEqual([0, 3]);
  const sequences = out
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { entry?: LogEvent }).entry?.sequence);
  expect(sequences).toEqual([1, 2, 3, 4, 5, 6, 7, 8, undefined]);
  const lost = err.trimEnd().split('\n');
  expect(lost.map((line) => Problem.parse(JSON.parse(line)).code)).toEqual(['FLEET_UNREACHABLE', 'FLEET_UNREACHABLE']);
});

test('a frame that is cut anywhere reads as one', async () => {
  const bytes = Buffer.from(entries.map(frame).join('') + done('landed'));
  fleet.streamWith(async (send) => {
    for (let at = 0; at < bytes.length; at += 7) {
      send(bytes.subarray(at, at + 7).toString('latin1'));
      if (at % 70 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  });
  expect((await run(['watch', runId, '--json'], { environment })).out.trimEnd().split('\n')).toHaveLength(9);
});

test('submit --watch ends with the result of the run', async () => {
  fleet.streamWith((send) => send(entries.map(frame).join('') + done('failed')));
  const { exitCode, err } = await run(['submit', '-p', 'slugify', '--watch', 'x'], { environment });
  expect([exitCode, err]).toEqual([1, expect.stringContaining(runId)]);
});

test('Ctrl-C ends a watch at once and quietly', async () => {
  const stop = new AbortController();
  fleet.streamWith((send) => {
    send(entries.slice(0, 2).map(frame).join(''));
    return new Promise(() => undefined);
  });
  const { exitCode, err } = await run(['watch', runId], {
    environment,
    stop,
    onOut: () => stop.abort(new Error('interrupted')),
  });
  expect([exitCode, err]).toEqual([130, '']);
});

test('on a terminal the gate asks, and the answer decides on the commit that was shown', async () => {
  const typed = new PassThrough();
  let decided: (() => void) | undefined;
  const untilDecided = new Promise<void>((resolve) => (decided = resolve));
  fleet.answer('decideGate', () => {
    decided?.();
    return undefined;
  });
  fleet.streamWith(async (send) => {
    send(entries.slice(0, 6).map(frame).join(''));
    await untilDecided;
    send(entries.slice(6).map(frame).join('') + done('landed'));
  });
  const { exitCode, out } = await run(['watch', runId], {
    environment,
    typed,
    onOut: (text) => {
      if (text.includes('[a]pprove')) typed.write('a\n');
    },
  });
  expect(exitCode).toBe(0);
  expect(out).toContain('slugify.js');
  expect(fleet.received.at(-1)).toMatchObject({
    call: 'decideGate',
    request: { decision: 'approve', commit: 'c'.repeat(40) },
  });
});

test('a question that somebody else answers goes away', async () => {
  const typed = new PassThrough();
  let asked: (() => void) | undefined;
  const untilAsked = new Promise<void>((resolve) => (asked = resolve));
  fleet.streamWith(async (send) => {
    send(entries.slice(0, 6).map(frame).join(''));
    await untilAsked;
    send(entries.slice(6).map(frame).join('') + done('landed'));
  });
  const { exitCode } = await run(['watch', runId], {
    environment,
    typed,
    onOut: (text) => {
      if (text.includes('[a]pprove')) asked?.();
    },
  });
  expect(exitCode).toBe(0);
  expect(fleet.received.map(({ call }) => call)).not.toContain('decideGate');
});

test('the live lines name the step, the call that runs and the last line it printed', () => {
  const events = [
    ...entries.slice(0, 3),
    entry(4, ToolFinished, { ...ToolFinished.example, result: 'first\nsecond \u001b[2J\n' }),
    entry(5, ToolStarted, { ...ToolStarted.example, tool: 'terminal.run', summary: 'npm test' }),
  ];
  const state = events.reduce((each, one) => foldWatch(each, { event: 'entry', entry: one }), startOfWatch);
  const lines = renderWatch(
    state,
    { runId, command: 'npx flotilla', now: '2030-01-01T00:00:14.000Z', tick: 0, columns: 80, prompted: false },
    choosePalette(false),
  );
  expect(lines).toEqual(['⠋ build 12 s  terminal.run npm test', '  second \\u{1b}[2J']);
});

const inSight = (state: WatchState) =>
  renderWatch(
    state,
    { runId, command: 'flotilla', now: '2030-01-01T00:00:14.000Z', tick: 0, columns: 44, prompted: false },
    choosePalette(false),
  ).slice(1);
const speak = (state: WatchState, ...pieces: readonly string[]) =>
  pieces.reduce((each, text) => foldWatch(each, { event: 'live', runId, text }), state);

test('each turn is a block of its own, wrapped, and of a long one the end is shown', () => {
  const start = entries
    .slice(0, 2)
    .reduce((each, one) => foldWatch(each, { event: 'entry', entry: one }), startOfWatch);
  const first = speak(start, '\fI look', ' at the', ' tests.');
  expect(inSight(first)).toEqual(['  I look at the tests.']);
  const taken = foldWatch(first, { event: 'entry', entry: entry(9, TurnTaken, TurnTaken.example) });
  expect(inSight(taken)).toEqual(inSight(first));
  const second = speak(taken, '\f', 'The second turn says more than fits on a line', ' of this terminal.');
  expect(inSight(second)).toEqual(['  The second turn says more than fits on a', '  line of this terminal.']);
  expect(inSight(speak(second, '\n1\n2\n3\n4\n5'))).toEqual(['  …', '  3', '  4', '  5']);
  expect(inSight(speak(second, '\f'))).toEqual(inSight(second));
});

test('what a tool printed is not glued to the words around it', () => {
  const ran = foldWatch(speak(startOfWatch, '\fI run it.'), {
    event: 'entry',
    entry: entry(4, ToolFinished, { ...ToolFinished.example, result: 'ok\n1 passed\n' }),
  });
  const working = { ...ran, step: { name: 'build', since: '2030-01-01T00:00:00.000Z' } };
  expect(inSight(working)).toEqual(['  1 passed']);
  expect(inSight(speak(working, 'joined in', ' the middle'))).toEqual(['  joined in the middle']);
});

const gateWith = (state: 'open' | 'decided') => {
  const { response } = calls.showGate.example;
  return { ...response, gate: { ...response.gate, state } };
};

test('without a terminal a gate that is open says how to answer, and one that was decided says nothing', async () => {
  fleet.answer('showGate', () => gateWith('open'));
  fleet.streamWith((send) => send(entries.map(frame).join('') + done('landed')));
  const waiting = await run(['watch', runId, '--no-ask'], { environment });
  for (const verb of ['diff', 'approve', 'decline', 'request-changes'])
    expect(waiting.err).toContain(`  flotilla ${verb} ${runId}`);
  fleet.answer('showGate', () => gateWith('decided'));
  expect((await run(['watch', runId, '--no-ask'], { environment })).err).toBe('');
});

test.each([[['watch', runId]], [['submit', '-p', 'slugify', 'x', '-w']], [['retry', runId, '-w']]])(
  'with --until-gate %j ends at an open gate with its own exit code, and goes past one that was decided',
  async (argv) => {
    fleet.answer('showGate', () => gateWith('open'));
    fleet.streamWith((send) => {
      send(entries.slice(0, 6).map(frame).join(''));
      return new Promise(() => undefined);
    });
    expect((await run([...argv, '--until-gate'], { environment })).exitCode).toBe(6);
    const asJson = await run([...argv, '--until-gate', '--json'], { environment });
    expect(asJson.exitCode).toBe(6);
    expect(asJson.out).toContain('"gate.opened"');
    fleet.answer('showGate', () => gateWith('decided'));
    fleet.streamWith((send) => send(entries.map(frame).join('') + done('landed')));
    expect((await run([...argv, '--until-gate'], { environment })).exitCode).toBe(0);
  },
);

test('an open gate shows its question and how to answer, until it is decided', () => {
  const opened = foldWatch(startOfWatch, { event: 'entry', entry: entry(6, GateOpened, GateOpened.example) });
  const shown = (prompted: boolean) =>
    renderWatch(
      opened,
      { runId, command: 'npx flotilla', now: '2030-01-01T00:00:14.000Z', tick: 0, columns: 80, prompted },
      choosePalette(false),
    );
  expect(shown(false)).toEqual([
    '? Land this change on main?',
    '  1 file, +1 -1, commit cccccccccc',
    `  npx flotilla diff ${runId}`,
    `  npx flotilla approve ${runId}`,
  ]);
  expect(foldWatch(opened, { event: 'entry', entry: entry(7, GateDecided, GateDecided.example) }).gate).toBeUndefined();
});

test('a run that ended has no step at work, whether or not its step said so', () => {
  const requested = entry(1, StepRequestedEvent, StepRequestedEvent.example);
  const atWork = foldWatch(startOfWatch, { event: 'entry', entry: requested });
  expect(atWork.step?.name).toBe('build');
  expect(foldWatch(atWork, { event: 'entry', entry: entry(2, RunEnded, RunEnded.example) }).step).toBeUndefined();
});
