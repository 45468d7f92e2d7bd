import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openLogOutput } from './fleet/log-output.ts';
import { createReport, reportWhile } from './report.ts';
import { jsonSink, liveSink, plainSink } from './report-sinks.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function record(makeSink: (write: (text: string) => void) => ReturnType<typeof plainSink>) {
  let text = '';
  return {
    report: createReport(
      makeSink((more) => (text += more)),
      () => Date.now(),
    ),
    read: () => text,
  };
}

test('plain: what is quick leaves one line, and what lasts shows its age from the second second on', () => {
  const { report, read } = record(plainSink);
  report.say('nats', 'on port 4222');
  const activity = report.begin('image', 'downloading packages');
  vi.advanceTimersByTime(1_999);
  expect(read()).toBe('nats: on port 4222\n');
  vi.advanceTimersByTime(2_000);
  activity.update('unpacking packages');
  vi.advanceTimersByTime(5_000);
  activity.end('built');
  expect(read()).toBe(
    [
      'nats: on port 4222',
      'image: downloading packages (2 s)',
      'image: unpacking packages (4 s)',
      'image: built (8 s)',
      '',
    ].join('\n'),
  );
});

test('plain: a long silence is broken every ten seconds', () => {
  const { report, read } = record(plainSink);
  report.begin('image', 'unpacking packages');
  vi.advanceTimersByTime(25_000);
  expect(read().split('\n')).toEqual([
    'image: unpacking packages (2 s)',
    'image: unpacking packages (12 s)',
    'image: unpacking packages (22 s)',
    '',
  ]);
});

test('json: each line is an object', () => {
  const { report, read } = record(jsonSink);
  report.begin('apt', 'installing').fail('no such package');
  expect(
    read()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toEqual([
    { kind: 'began', subject: 'apt', text: 'installing', seconds: 0 },
    { kind: 'failed', subject: 'apt', text: 'no such package', seconds: 0 },
  ]);
});

test('live: running activities stay below finished lines and are drawn over', () => {
  const { report, read } = record((write) => liveSink(write, () => 80));
  const image = report.begin('image', 'building');
  report.say('nats', 'is up');
  image.end('built');
  expect(read()).toBe(
    '… image: building\n\x1b[1A\x1b[0J✓ nats: is up\n… image: building\n\x1b[1A\x1b[0J✓ image: built\n',
  );
});

test('live: what is printed meanwhile stays above what runs', () => {
  const { report, read } = record((write) => liveSink(write, () => 80));
  report.begin('services', 'starting');
  const log = openLogOutput({ write: report.print }, false);
  log(JSON.stringify({ level: 'info', service: 'planner', event: 'service_ready' }));
  expect(read()).toMatch(/^… services: starting\n\x1b\[1A\x1b\[0Jplanner is ready\n… services: starting\n$/);
});

test.each([
  ['plain', plainSink],
  ['json', jsonSink],
])('%s: what is printed stays as it came', (_, makeSink) => {
  const { report, read } = record(makeSink);
  openLogOutput({ write: report.print }, true)('{"event":"ready"}');
  expect(read()).toBe('{"event":"ready"}\n');
});

test('live: a tick is for what is well alone', () => {
  const { report, read } = record((write) => liveSink(write, () => 80));
  report.say('nats', 'is up');
  report.warn('executor', 'ended (SIGKILL); started again');
  report.fail('fleet', 'The scribe ended 6 times');
  expect(read()).toBe('✓ nats: is up\n! executor: ended (SIGKILL); started again\n✗ fleet: The scribe ended 6 times\n');
});

test.each([
  [new Error('stopped by SIGINT'), 'stopped'],
  [new FlotillaError(errors.alreadyRunning, { directory: '/d', pid: 7 }), 'given up'],
])('work that ends since it was aborted did not fail: %s', async (reason, said) => {
  const { report, read } = record((write) => liveSink(write, () => 80));
  const stopping = new AbortController();
  const work = reportWhile(
    report,
    'build',
    'compiling',
    async () => {
      stopping.abort(reason);
      stopping.signal.throwIfAborted();
    },
    undefined,
    stopping.signal,
  );
  await expect(work).rejects.toBe(reason);
  expect(read().split('\n').at(-2)).toBe(`\x1b[1A\x1b[0J– build: ${said}`);
});

test('work that fails by itself is told as failed, though all is being stopped', async () => {
  const { report, read } = record(plainSink);
  const work = async () => Promise.reject(new Error('disk full'));
  await expect(reportWhile(report, 'apt', 'installing', work, undefined, AbortSignal.abort())).rejects.toThrow();
  expect(read()).toBe('apt: failed: disk full\n');
});

test('work that fails is told as failed, and its error goes on', async () => {
  const { report, read } = record(plainSink);
  await expect(
    reportWhile(report, 'apt', 'installing', async () => Promise.reject(new Error('disk full'))),
  ).rejects.toThrow('disk full');
  expect(read()).toBe('apt: failed: disk full\n');
});
