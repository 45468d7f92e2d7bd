import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { calls } from '@flotilla/contracts/call-catalogue';
import type { WatchEvent } from '@flotilla/contracts/calls/watch-run';
import { RunEnded, TaskAccepted } from '@flotilla/contracts/events/run-events';
import { ToolFinished } from '@flotilla/contracts/events/journal-events';
import { Problem } from '@flotilla/contracts/problem';
import { beforeEach, expect, test } from 'vitest';
import {
  createServerFixture,
  exampleRow,
  exampleRunId,
  fullToken,
  type ServerFixture,
} from '../http/server.fixture.ts';

let fixture: ServerFixture;
let origin: string;
beforeEach(async () => {
  fixture = createServerFixture();
  await fixture.server.listen({ host: '127.0.0.1', port: 0 });
  origin = `http://127.0.0.1:${(fixture.server.server.address() as AddressInfo).port}`;
  return () => {
    fixture.shutdown.abort();
    return fixture.server.close();
  };
});

const path = `/v1/runs/${exampleRunId}/events`;
const headers = { authorization: `Bearer ${fullToken}` };

interface Frame {
  readonly id?: string;
  readonly event?: string;
  readonly data?: string;
}

/** Reads frames as the specification of server-sent events says: CR, LF and CRLF end a line. */
async function* readFrames(response: Response): AsyncGenerator<Frame> {
  let rest = '';
  for await (const chunk of response.body ?? []) {
    rest += Buffer.from(chunk as Uint8Array).toString();
    for (let end = rest.search(/\r\n\r\n|\n\n|\r\r/); end !== -1; end = rest.search(/\r\n\r\n|\n\n|\r\r/)) {
      const lines = rest.slice(0, end).split(/\r\n|\n|\r/);
      rest = rest.slice(end).replace(/^(\r\n\r\n|\n\n|\r\r)/, '');
      const fields = lines
        .filter((line) => !line.startsWith(':'))
        .map((line) => /^([^:]*): ?(.*)$/s.exec(line)?.slice(1) ?? []);
      const frame: Frame = Object.fromEntries(fields) as Frame;
      if (frame.event !== undefined) yield frame;
    }
  }
}

async function watch(extra: Record<string, string> = {}, query = ''): Promise<Response> {
  return fetch(`${origin}${path}${query}`, { headers: { ...headers, ...extra } });
}

async function collect(response: Response): Promise<readonly WatchEvent[]> {
  const events: WatchEvent[] = [];
  for await (const { data } of readFrames(response)) events.push(calls.watchRun.response.parse(JSON.parse(data ?? '')));
  return events;
}

const sequences = (events: readonly WatchEvent[]) =>
  events.flatMap((event) => (event.event === 'entry' ? [event.entry.sequence] : []));
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);
const appendMany = (count: number) => {
  for (let index = 0; index < count; index += 1) fixture.log.append(TaskAccepted.type, TaskAccepted.example);
};
const end = () => fixture.log.append(RunEnded.type, RunEnded.example);
const turn = () => new Promise((resolve) => setImmediate(resolve));

test('a run that has ended is replayed whole, then done', async () => {
  appendMany(250);
  end();
  fixture.rows.splice(0, 1, exampleRow({ state: 'ended', result: 'landed' }));
  const response = await watch();
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  const events = await collect(response);
  expect(sequences(events)).toEqual(range(1, 251));
  expect(events.at(-1)).toEqual({ event: 'done', runId: exampleRunId, result: 'landed', commit: 'c'.repeat(40) });
});

test('a client that comes back after the last entry of an ended run is told so at once', async () => {
  appendMany(3);
  end();
  fixture.rows.splice(0, 1, exampleRow({ state: 'ended', result: 'failed' }));
  expect(await collect(await watch({ 'last-event-id': '4' }))).toEqual([
    { event: 'done', runId: exampleRunId, result: 'failed' },
  ]);
});

test('wherever a client goes on, it misses no entry and sees none twice, while the log grows', async () => {
  appendMany(120);
  const starts = [0, 1, 57, 99, 100, 101, 119, 120];
  const watches = starts.map(async (start) => collect(await watch({ 'last-event-id': String(start) })));
  for (let burst = 0; burst < 60; burst += 1) {
    appendMany(burst % 7);
    await turn();
  }
  const last = fixture.log.entries.length + 1;
  end();
  const seen = await Promise.all(watches);
  expect(seen.map(sequences)).toEqual(starts.map((start) => range(start + 1, last)));
});

test('ids of frames are the sequences to go on from', async () => {
  appendMany(2);
  end();
  const ids: (string | undefined)[] = [];
  for await (const frame of readFrames(await watch())) ids.push(frame.id);
  expect(ids).toEqual(['1', '2', '3', undefined]);
});

test('what a tool printed cannot end its frame or begin another', async () => {
  const result = 'x\n\nevent: gate.decided\ndata: {}\n\r\rid: 99\r\n\r\n\u2028event: done\u2029\u0085';
  fixture.log.append(ToolFinished.type, { ...ToolFinished.example, result }, { stepId: 'build', attempt: 1 });
  end();
  const raw = await (await watch()).text();
  expect(raw.match(/^event: \w+$/gm)).toEqual(['event: entry', 'event: entry', 'event: done']);
  expect(raw).not.toMatch(/[\r\u2028\u2029]/);
  const [first] = await collect(await watch());
  expect(first).toMatchObject({ entry: { sequence: 1, payload: { result } } });
});

test.each(['x', '-1', '1.5', '99', '1e3', '0x1', '9'.repeat(400)])(
  'Last-Event-ID %s is refused with what is expected',
  async (id) => {
    appendMany(3);
    const response = await watch({ 'last-event-id': id });
    expect(response.status).toBe(400);
    const problem = Problem.parse(await response.json());
    expect(problem).toMatchObject({ code: 'LAST_EVENT_ID_INVALID' });
    expect(problem.detail).toContain('a whole number from 0 to 3');
  },
);

test('an `after` that the log does not have is refused as such, naming where the log ends', async () => {
  appendMany(3);
  const response = await fetch(`${origin}/v1/runs/${exampleRunId}/events?after=99`, { headers });
  expect(response.status).toBe(400);
  const problem = Problem.parse(await response.json());
  expect(problem).toMatchObject({ code: 'REQUEST_INVALID', violations: [{ path: 'after' }] });
  expect(problem.detail).toContain('ends at 3');
});

test('a run that does not exist is 404, not an empty stream', async () => {
  const response = await fetch(`${origin}/v1/runs/run_${'0'.repeat(26)}/events`, { headers });
  expect([response.status, Problem.parse(await response.json()).code]).toEqual([404, 'RUN_UNKNOWN']);
});

test('words of the model come live, without an id, once the log was replayed', async () => {
  appendMany(1);
  const frames: Frame[] = [];
  for await (const frame of readFrames(await watch())) {
    frames.push(frame);
    if (frame.id === '1') for (let quiet = 0; quiet < 5; quiet += 1) await turn();
    if (frame.id === '1') fixture.say('I look\nat it');
    if (frame.event === 'live') end();
  }
  expect(frames.map(({ id, event }) => [id, event])).toEqual([
    ['1', 'entry'],
    [undefined, 'live'],
    ['2', 'entry'],
    [undefined, 'done'],
  ]);
});

test('a client may do without live words', async () => {
  const response = await watch({}, '?live=false');
  const events = collect(response);
  for (let quiet = 0; quiet < 5; quiet += 1) await turn();
  fixture.say('hidden');
  end();
  expect((await events).map(({ event }) => event)).toEqual(['entry', 'done']);
});

test('a thousand watchers of one run cost one tail, and a page of the log is read once for all of them', async () => {
  appendMany(50);
  const responses: Response[] = [];
  // Of a burst of more connections than the system lets wait it resets some, and the server never hears of them.
  while (responses.length < 1000) responses.push(...(await Promise.all(Array.from({ length: 50 }, () => watch()))));
  const collecting = responses.map(collect);
  while (fixture.tails.size !== 1) await turn();
  appendMany(1);
  end();
  const all = await Promise.all(collecting);
  expect(all.every((events) => sequences(events).length === 52 && events.at(-1)?.event === 'done')).toBe(true);
  expect(fixture.log.reads).toBeLessThan(20);
  expect(fixture.tails.size).toBe(0);
});

test('a client that goes away leaves nothing behind', async () => {
  const stop = new AbortController();
  await fetch(`${origin}${path}`, { headers, signal: stop.signal });
  while (fixture.tails.size === 0) await turn();
  stop.abort();
  while (fixture.tails.size > 0) await turn();
  expect(fixture.log.listeners.size).toBe(0);
});

test('a client that does not read holds back only itself', async () => {
  const socket = connect(Number(new URL(origin).port), '127.0.0.1');
  socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${fullToken}\r\n\r\n`);
  socket.pause();
  const big = { ...TaskAccepted.example, goal: 'x'.repeat(200_000) };
  for (let count = 0; count < 300; count += 1) fixture.log.append(TaskAccepted.type, big);
  const reading = watch().then(collect);
  while (fixture.tails.size === 0) await turn();
  end();
  expect(sequences(await reading)).toHaveLength(301);
  socket.destroy();
});

test('a page that was read before the run ended does not end the stream of who knows that it did', async () => {
  appendMany(5);
  const earlier = watch({ 'last-event-id': '5' }).then(collect);
  while (fixture.tails.size === 0) await turn();
  fixture.log.listeners.clear();
  end();
  fixture.rows.splice(0, 1, exampleRow({ state: 'ended', result: 'landed' }));
  expect(sequences(await collect(await watch({ 'last-event-id': '5' })))).toEqual([6]);
  expect(sequences(await earlier)).toEqual([6]);
});

test('shutting down ends the streams', async () => {
  const response = await watch();
  const events = collect(response);
  while (fixture.tails.size === 0) await turn();
  fixture.shutdown.abort();
  expect(await events).toEqual([]);
});
