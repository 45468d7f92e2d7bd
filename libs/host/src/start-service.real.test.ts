import { PlanStepRequested } from '@flotilla/contracts/messages/plan-step-requested';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { acquireLease, stepLeaseKey } from '@flotilla/store/lease';
import { recordDelivery } from '@flotilla/store/inbox';
import { publishRaw } from '@flotilla/stream/publish-message';
import type { StepAnswer } from './step-work.ts';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import {
  createHostFixture,
  eventually,
  type HostFixture,
  planned,
  planRequest,
  plannerDefinition,
} from './host.fixture.ts';

let fixture: HostFixture;
beforeAll(async () => {
  fixture = await createHostFixture();
});
afterEach(() => fixture.stopAll());
afterAll(() => fixture?.close());

const answered = (request: ReturnType<typeof planRequest>) =>
  eventually('the step is answered', async () => (await fixture.answers(request)).length > 0);
const untilAborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) =>
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }),
  );
const ready = async (port: number | undefined) => {
  const response = await fetch(`http://127.0.0.1:${port}/ready`);
  return { status: response.status, body: (await response.json()) as { checks: Record<string, boolean> } };
};

test('a step is started, its entries and its answer are committed together, and the answer reaches the broker', async () => {
  await fixture.start(
    plannerDefinition(async (_, context) => {
      await context.log({ type: 'plan.written', payload: { plan: 'draft' } });
      expect((await context.journal()).map(({ type }) => type)).toEqual(['step.started', 'plan.written']);
      return { ...planned, entries: [{ type: 'plan.written', payload: { plan: 'Do it.' } }] };
    }),
  );
  const request = planRequest();
  await fixture.request(request);
  await answered(request);
  expect(await fixture.answers(request)).toMatchObject([{ outcome: { kind: 'done' } }]);
  expect(await fixture.entries(request.runId, request.stepId)).toEqual([
    'step.started',
    'plan.written',
    'plan.written',
  ]);
  expect(fixture.logged.filter(({ run_id }) => run_id === request.runId).map(({ event }) => event)).toEqual([
    'delivery_started',
    'delivery_settled',
  ]);
});

test('an answer tells the seconds that its work took, or those that it counted itself if they are more', async () => {
  let counted = 0;
  const workMs = 300;
  await fixture.start(
    plannerDefinition(async () => {
      await new Promise((resolve) => setTimeout(resolve, workMs));
      return { ...planned, spent: { ...planned.spent, seconds: counted } };
    }),
  );
  const [quick, resumed] = [planRequest(), planRequest()];
  await fixture.request(quick);
  await answered(quick);
  const [first] = await fixture.answers(quick);
  expect(first?.spent.seconds).toBeGreaterThanOrEqual((workMs - 1) / 1000);
  expect(first?.spent.seconds).toBeLessThan(10);

  counted = 1_000;
  await fixture.request(resumed);
  await answered(resumed);
  expect(await fixture.answers(resumed)).toMatchObject([{ spent: { seconds: 1_000 } }]);
});

test('a message that comes again after it was handled is not handled again, and its answer is given to the broker once more', async () => {
  let worked = 0;
  await fixture.start(
    plannerDefinition(() => {
      worked += 1;
      return Promise.resolve(planned);
    }),
  );
  const request = planRequest();
  const messageId = await fixture.request(request);
  await answered(request);
  await fixture.store.query('update flow.outbox set published_at = $2 where cause = $1', [messageId, new Date(0)]);
  const republished = async () => {
    const [row] = await fixture.store.query<{ at: string }>(
      'select published_at::text as at from flow.outbox where cause = $1',
      [messageId],
    );
    return row !== undefined && row.at !== null && !row.at.startsWith('1970');
  };
  // A broker that forgot the id takes the message once more; to the inbox it is the same occasion.
  await fixture.broker.jsm.streams.update('WORK', { duplicate_window: 100_000_000 });
  await eventually(
    'the broker takes the id again',
    async () =>
      !(await fixture.broker.js.publish(PlanStepRequested.subject, JSON.stringify(request), { msgID: messageId }))
        .duplicate,
  );
  await eventually('the answer is published again', republished);
  await fixture.broker.jsm.streams.update('WORK', { duplicate_window: 120_000_000_000 });
  expect(worked).toBe(1);
});

test('a budget is counted over restarts, and the answer of a step that failed for good says why', async () => {
  const busy = new FlotillaError({
    code: 'BUSY',
    remedy: 'retry',
    summary: 'The provider is busy',
    advice: 'Wait for it.',
  });
  let deliveries = 0;
  const fail = () => {
    deliveries += 1;
    return Promise.reject(busy);
  };
  const request = planRequest();
  const first = await fixture.start(plannerDefinition(fail, { attempts: 3 }));
  await fixture.request(request);
  await eventually('it failed once', () => deliveries === 1);
  await first.close();
  await fixture.start(plannerDefinition(fail, { attempts: 3 }));
  await answered(request);
  expect(deliveries).toBe(3);
  expect(await fixture.answers(request)).toMatchObject([
    { outcome: { kind: 'failed', code: 'BUSY', advice: 'Wait for it.' } },
  ]);
  expect(await fixture.entries(request.runId, request.stepId)).toEqual([
    'step.started',
    'step.attempt_failed',
    'step.started',
    'step.attempt_failed',
    'step.started',
  ]);
  const dead = await fixture.broker.jsm.streams.getMessage('DEAD', { last_by_subj: 'flotilla.dead.PlanStepRequested' });
  expect(dead?.json()).toMatchObject({ code: 'BUSY', runId: request.runId, stepId: 'plan', deliveries: 3 });
});

test('waiting costs nothing, is told once, and ends at the deadline', async () => {
  const request = planRequest({ deadline: new Date(Date.now() + 5_000).toISOString() });
  let deliveries = 0;
  await fixture.start(
    plannerDefinition(
      () => {
        deliveries += 1;
        return Promise.reject(new FlotillaError(errors.dockerUnavailable, { reason: 'no socket' }));
      },
      { attempts: 1 },
    ),
  );
  await fixture.request(request);
  await answered(request);
  expect(deliveries).toBe(2);
  expect(await fixture.answers(request)).toMatchObject([{ outcome: { kind: 'limit_reached', limit: 'deadline' } }]);
  const types = await fixture.entries(request.runId, request.stepId);
  expect(types.filter((type) => type === 'step.attempt_failed')).toHaveLength(1);
});

test('work that goes past the deadline is stopped', async () => {
  const request = planRequest({ deadline: new Date(Date.now() + 1_000).toISOString() });
  await fixture.start(plannerDefinition((_, { signal }) => untilAborted(signal)));
  await fixture.request(request);
  await answered(request);
  expect(await fixture.answers(request)).toMatchObject([{ outcome: { kind: 'limit_reached', limit: 'deadline' } }]);
});

test('what a step achieved before it was late or cancelled is its answer, and is looked for until it is known', async () => {
  const signals: boolean[] = [];
  let looks = 0;
  const findDone = (_: unknown, { signal }: { readonly signal: AbortSignal }) => {
    signals.push(signal.aborted);
    looks += 1;
    return looks === 1 ? Promise.reject(new FlotillaError(errors.dockerUnavailable, { reason: 'away' })) : planned;
  };
  const options = { findDone: async (...given: Parameters<typeof findDone>) => findDone(...given) };
  await fixture.start(plannerDefinition((_, { signal }) => untilAborted(signal), options));
  const early = planRequest({ deadline: new Date(Date.now() + 1_000).toISOString() });
  await fixture.request(early);
  await answered(early);
  expect(await fixture.answers(early)).toMatchObject([{ outcome: { kind: 'done' } }]);
  const late = planRequest({ deadline: new Date(Date.now() - 1_000).toISOString() });
  await fixture.request(late);
  await answered(late);
  expect(await fixture.answers(late)).toMatchObject([{ outcome: { kind: 'done' } }]);
  expect(signals).toEqual([false, false, false]);
});

test('a step that is given up is answered with what it achieved, and looked at until that is known', async () => {
  let looks = 0;
  const findDone = async (): Promise<StepAnswer> => {
    looks += 1;
    if (looks === 1) throw new FlotillaError(errors.landingUnknown, { commit: 'c', branch: 'main', reason: 'away' });
    return { ...planned, entries: [{ type: 'plan.written', payload: { plan: 'Do it.' } }] };
  };
  const refuse = () => Promise.reject(new FlotillaError(errors.remoteNotFound, { remote: 'r', reason: 'gone' }));
  await fixture.start(plannerDefinition(refuse, { findDone }));
  const request = planRequest();
  await fixture.request(request);
  await answered(request);
  expect(await fixture.answers(request)).toMatchObject([{ outcome: { kind: 'done' } }]);
  expect(await fixture.entries(request.runId, request.stepId)).toContain('plan.written');
  expect(looks).toBe(2);
});

test('a step of which nobody can tell what it achieved says so once its time is over', async () => {
  const unknown = new FlotillaError(errors.landingUnknown, { commit: 'c', branch: 'main', reason: 'away' });
  const refuse = () => Promise.reject(new FlotillaError(errors.remoteNotFound, { remote: 'r', reason: 'gone' }));
  await fixture.start(plannerDefinition(refuse, { findDone: () => Promise.reject(unknown) }));
  const request = planRequest({ deadline: new Date(Date.now() + 1_500).toISOString() });
  await fixture.request(request);
  await answered(request);
  expect(await fixture.answers(request)).toMatchObject([{ outcome: { kind: 'failed', code: 'LANDING_UNKNOWN' } }]);
});

test('a run that is cancelled stops its step, and what the journal shows was spent is told', async () => {
  const request = planRequest();
  await fixture.start(
    plannerDefinition(async (_, context) => {
      const spent = { turns: 1, calls: 0, tokens: 900, microdollars: null, seconds: 1 };
      const turn = {
        turn: 1,
        model: 'm',
        text: '',
        calls: [],
        finish: 'stop',
        spent,
        inputTokens: 1,
        outputTokens: 1,
        durationMs: 1,
      };
      await context.log({ type: 'agent.turn', payload: turn });
      return untilAborted(context.signal);
    }),
  );
  await fixture.request(request);
  await eventually('the step is at work', async () =>
    (await fixture.entries(request.runId, request.stepId)).includes('agent.turn'),
  );
  await fixture.store.transaction((transaction) =>
    transaction.appendLog(request.runId, [{ type: 'run.cancel_requested', payload: { by: 'local' as never } }]),
  );
  await answered(request);
  expect(await fixture.answers(request)).toMatchObject([
    { outcome: { kind: 'cancelled' }, spent: { turns: 1, tokens: 900, microdollars: null } },
  ]);
});

test('a step that another process works on is waited for, and done by one of them', async () => {
  const request = planRequest();
  const key = stepLeaseKey(request);
  const lease = await acquireLease(fixture.store, key, 'somebody else', 4_000);
  let worked = 0;
  await fixture.start(
    plannerDefinition(() => {
      worked += 1;
      return Promise.resolve(planned);
    }),
  );
  await fixture.request(request);
  await answered(request);
  expect(worked).toBe(1);
  expect(lease).toBeDefined();
  expect(await fixture.entries(request.runId, request.stepId)).toEqual(['step.started']);
});

test('a message whose process died three times is a dead letter and not tried again', async () => {
  const request = planRequest();
  const messageId = PlanStepRequested.messageId(request);
  for (let death = 0; death < 3; death += 1) await recordDelivery(fixture.store, messageId, 'PlanStepRequested');
  await fixture.start(plannerDefinition(() => Promise.reject(new Error('it was tried again'))));
  await fixture.request(request);
  await answered(request);
  expect(await fixture.answers(request)).toMatchObject([
    { outcome: { kind: 'failed', code: 'MESSAGE_NEVER_SETTLED' } },
  ]);
});

test('a request that breaks its contract still tells the run that its step failed', async () => {
  const request = planRequest();
  await fixture.start(plannerDefinition(() => Promise.resolve(planned)));
  await publishRaw(fixture.broker, {
    subject: PlanStepRequested.subject,
    messageId: PlanStepRequested.messageId(request),
    payload: JSON.stringify({ ...request, goal: 7 }),
  });
  await answered(request);
  expect(await fixture.answers(request)).toMatchObject([{ outcome: { kind: 'failed', code: 'MESSAGE_MALFORMED' } }]);
});

test('a service that stops hands its step over at once, and a service that starts takes it', async () => {
  const request = planRequest();
  const hanging = await fixture.start(plannerDefinition((_, { signal }) => untilAborted(signal)));
  await fixture.request(request);
  await eventually(
    'the step is at work',
    async () => (await fixture.entries(request.runId, request.stepId)).length === 1,
  );
  await fixture.start(plannerDefinition(() => Promise.resolve(planned)));
  const stopping = hanging.close();
  await stopping;
  const stoppedAt = performance.now();
  await answered(request);
  expect(performance.now() - stoppedAt).toBeLessThan(2_000);
  expect(await fixture.answers(request)).toMatchObject([{ outcome: { kind: 'done' } }]);
});

test('readiness says which server is lost, and holds again when it is back', async () => {
  const service = await fixture.start(plannerDefinition(() => Promise.resolve(planned)));
  expect(await ready(service.port)).toMatchObject({
    status: 200,
    body: { checks: { nats: true, postgres: true, stages: true } },
  });
  await fixture.nats.kill();
  await eventually('NATS is missed', async () => (await ready(service.port)).body.checks['nats'] === false);
  expect((await ready(service.port)).status).toBe(503);
  await fixture.nats.start();
  await eventually('NATS is back', async () => (await ready(service.port)).status === 200);
  await fixture.postgres.kill();
  await eventually('Postgres is missed', async () => (await ready(service.port)).body.checks['postgres'] === false);
  await fixture.postgres.start();
  await eventually('Postgres is back', async () => (await ready(service.port)).status === 200);
  const request = planRequest();
  await fixture.request(request);
  await answered(request);
});

test('a check that answers with no makes its service not ready and does it no harm', async () => {
  const definition = plannerDefinition(() => Promise.resolve(planned));
  const service = await fixture.start({ ...definition, checks: () => ({ docker: () => Promise.resolve(false) }) });
  expect(await ready(service.port)).toMatchObject({ status: 503, body: { checks: { docker: false, postgres: true } } });
});

test('a service whose table lacks a message, or whose module lacks a handler, does not start and names the file', async () => {
  const definition = plannerDefinition(() => Promise.resolve(planned));
  await expect(fixture.start({ ...definition, stages: [] })).rejects.toMatchObject({
    code: 'STAGE_MISSING',
    advice: expect.stringContaining('planner.stages.ts'),
  });
  class EmptyModule {}
  await expect(fixture.start({ ...definition, module: () => ({ module: EmptyModule }) })).rejects.toMatchObject({
    code: 'STAGE_HANDLER_MISSING',
    advice: expect.stringContaining('planner.module.ts'),
  });
});
