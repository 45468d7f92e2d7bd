import { PlanStepRequested } from '@flotilla/contracts/messages/plan-step-requested';
import { StepCompleted } from '@flotilla/contracts/messages/step-completed';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { publishMessage } from '@flotilla/stream/publish-message';
import { startOtlpReceiver, type OtlpReceiver } from '@flotilla/testing/otlp-receiver';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  createHostFixture,
  eventually,
  type HostFixture,
  planned,
  planRequest,
  plannerDefinition,
} from './host.fixture.ts';
import { startService } from './start-service.ts';

let fixture: HostFixture;
let receiver: OtlpReceiver;
beforeAll(async () => {
  [fixture, receiver] = await Promise.all([createHostFixture(), startOtlpReceiver()]);
});
afterAll(async () => {
  await fixture?.close();
  await receiver?.close();
});

const secret = 'sk-planted/secret-4711';

test('a trace that a message carries goes on through work, log, answer and a later delivery, numbers go out, and no secret does', async () => {
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
  const parentSpanId = '00f067aa0ba902b7';
  const request = planRequest();
  let deliveries = 0;
  const definition = plannerDefinition(async (_, context) => {
    deliveries += 1;
    const chat = { 'gen_ai.operation.name': 'chat', 'gen_ai.provider.name': 'openai', 'gen_ai.request.model': 'm' };
    const usage = { 'gen_ai.usage.input_tokens': 900, 'gen_ai.usage.output_tokens': 40 };
    const busy = new FlotillaError({ code: 'MODEL_BUSY', remedy: 'retry', summary: 'busy', advice: 'Wait.' });
    await context.span('chat m', { ...chat, ...usage }, () => Promise.resolve());
    await context.span('chat m', chat, () => Promise.reject(busy)).catch(() => undefined);
    return context.span('agent.turn', { model: 'scripted' }, async () => {
      await context.log({ type: 'plan.written', payload: { plan: 'x' } });
      if (deliveries === 1) throw new Error(`the key ${secret} was refused`);
      return planned;
    });
  });
  const environment = { ...fixture.environment, OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, FLOTILLA_MODEL_KEY: secret };
  const service = await startService(definition, { environment, output: fixture.output });
  await publishMessage(fixture.broker, PlanStepRequested, request, {
    headers: { traceparent: `00-${traceId}-${parentSpanId}-01` },
  });
  await eventually('the step is answered', async () => (await fixture.answers(request)).length > 0);
  await service.close();

  const spans = receiver.spans;
  expect(new Set(spans.map((span) => span.traceId))).toEqual(new Set([traceId]));
  const ids = new Set(spans.map(({ spanId }) => spanId));
  const orphans = spans.filter((span) => span.parentSpanId !== parentSpanId && !ids.has(span.parentSpanId));
  expect(orphans).toEqual([]);
  const named = (name: string) => spans.filter((span) => span.name === name);
  expect(named('process PlanStepRequested')).toHaveLength(2);
  expect(named('agent.turn')).toHaveLength(2);
  expect(named(`send ${StepCompleted.subject}`)).toHaveLength(1);
  expect(named('process PlanStepRequested')[0]?.attributes).toMatchObject({
    'messaging.system': 'nats',
    'messaging.destination.name': PlanStepRequested.subject,
    'flotilla.run_id': request.runId,
  });
  const log = await fixture.store.readLog(request.runId);
  expect(log.every(({ trace }) => trace?.traceparent.includes(traceId))).toBe(true);

  const series = (name: string) => receiver.metrics.filter((metric) => metric.name === name);
  const names = ['delivery.duration', 'step.duration', 'tokens', 'outbox.waiting'];
  for (const name of names) expect(series(`flotilla.${name}`), name).not.toEqual([]);
  const stage = 'PlanStepRequested';
  expect(series('flotilla.queue.wait')[0]).toMatchObject({ unit: 's', attributes: { stage } });
  expect(series('flotilla.deliveries').map(({ attributes }) => attributes)).toEqual(
    expect.arrayContaining([
      { stage, settlement: 'later', code: 'FAILURE_UNCLASSIFIED' },
      { stage, settlement: 'acknowledged' },
    ]),
  );
  expect(series('flotilla.steps')[0]?.attributes).toEqual({ verb: 'plan', outcome: 'done' });
  const model = { 'gen_ai.operation.name': 'chat', 'gen_ai.provider.name': 'openai', 'gen_ai.request.model': 'm' };
  expect(series('gen_ai.client.operation.duration')).toEqual(
    expect.arrayContaining([
      { name: 'gen_ai.client.operation.duration', unit: 's', attributes: model },
      { name: 'gen_ai.client.operation.duration', unit: 's', attributes: { ...model, 'error.type': 'MODEL_BUSY' } },
    ]),
  );
  expect(series('gen_ai.client.token.usage')).toEqual(
    expect.arrayContaining(
      ['input', 'output'].map((type) => ({
        name: 'gen_ai.client.token.usage',
        unit: '{token}',
        attributes: { ...model, 'gen_ai.token.type': type },
      })),
    ),
  );
  const lines = fixture.logged.filter(({ run_id }) => run_id === request.runId);
  expect(lines.every(({ trace_id }) => trace_id === traceId)).toBe(true);
  for (const line of fixture.lines) {
    const fields = [...line.matchAll(/[{,]"([a-z_]+)":/g)].map(([, field]) => field);
    for (const field of ['event', 'service', 'instance', 'level', 'run_id', 'message_id', 'trace_id'])
      expect(fields.filter((name) => name === field).length, `${field} in ${line}`).toBeLessThan(2);
    expect(fields).toEqual(expect.arrayContaining(['event', 'service', 'instance', 'level', 'time']));
  }
  const everything = JSON.stringify([fixture.logged, receiver.bodies]);
  expect(everything).not.toContain(secret);
  expect(JSON.stringify(lines)).toContain('the key [redacted] was refused');
});
