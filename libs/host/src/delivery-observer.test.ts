import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { createLogger } from './create-logger.ts';
import { observeCalls } from './delivery-observer.ts';
import { createMetrics } from './metrics.ts';

test('what is logged while a call is answered names the run that the call is about, and nothing else of what was asked', async () => {
  const lines: Record<string, unknown>[] = [];
  const output = new Writable({
    write: (chunk: Buffer, _, done) => {
      lines.push(JSON.parse(chunk.toString()) as Record<string, unknown>);
      done();
    },
  });
  const settings = { logLevel: 'info', logFormat: 'json' } as const;
  const logger = createLogger({ instance: 'router-1', settings, redact: (text) => text, output });
  const observer = observeCalls({ service: 'router', logger, metrics: createMetrics('router') });
  const input = { runId: 'run_01j9z3k8m2n4p6q8r0s2t4v6w8', reason: 'told in confidence' };
  await observer.around({ name: 'cancelRun', subject: 's', headers: new Map(), input }, () => {
    logger.info({ event: 'run_moved' });
    observer.answered({ name: 'cancelRun', code: undefined, durationMs: 3 });
    return Promise.resolve();
  });
  logger.info({ event: 'afterwards' });
  expect(lines.map(({ event, run_id }) => [event, run_id])).toEqual([
    ['run_moved', input.runId],
    ['call_answered', input.runId],
    ['afterwards', undefined],
  ]);
  expect(JSON.stringify(lines)).not.toContain('confidence');
});
