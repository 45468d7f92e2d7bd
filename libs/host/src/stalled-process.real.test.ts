import { PlanStepRequested } from '@flotilla/contracts/messages/plan-step-requested';
import { acquireLease, stepLeaseKey } from '@flotilla/store/lease';
import type { Store } from '@flotilla/store/store';
import type { Arrival } from '@flotilla/stream/delivery-guard';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buryMessage } from './bury-message.ts';
import {
  createHostFixture,
  type HostFixture,
  planned,
  planRequest,
  PlanWork,
  type PlanRequest,
  type Work,
} from './host.fixture.ts';
import { StepHandler } from './step-handler.ts';
import { StoreGuard } from './store-guard.ts';

let fixture: HostFixture;
beforeAll(async () => {
  fixture = await createHostFixture();
});
afterAll(() => fixture?.close());

/** One delivery as the runner makes it. */
async function deliver(store: Store, instance: string, request: PlanRequest, work: Work): Promise<void> {
  const guard = new StoreGuard({
    store,
    instance,
    bury: (burial) => buryMessage({ store, answer: () => undefined }, burial),
  });
  const arrival: Arrival = {
    messageId: PlanStepRequested.messageId(request),
    stage: PlanStepRequested.name,
    delivery: 1,
    contract: PlanStepRequested as unknown as Arrival['contract'],
    message: request,
    leaseKey: stepLeaseKey(request),
  };
  const begun = await guard.begin(arrival);
  if (begun.kind === 'handled') return;
  if (begun.kind === 'exhausted') throw new Error('it died too often');
  const ports = {
    store,
    service: 'planner',
    instance,
    clock: () => new Date(),
    monotonicMs: () => performance.now(),
    metrics: { stepEnded: () => undefined },
    live: () => undefined,
    onLogGrew: () => () => undefined,
  };
  const { messageId, stage } = arrival;
  const { lease } = begun.claim;
  const delivery = {
    messageId,
    stage,
    subject: '',
    headers: new Map(),
    delivery: 1,
    at: new Date(),
    signal: new AbortController().signal,
  };
  await new StepHandler(ports, new PlanWork(work)).handle(request, {
    ...delivery,
    ...(lease === undefined ? {} : { lease }),
  });
  await guard.settle(begun.claim, { kind: 'acknowledged' });
}

/** Work that goes on from its journal: the side effect it stands for happens once. */
const work: Work = async (_, context) => {
  const journal = await context.journal();
  if (!journal.some(({ type }) => type === 'plan.written'))
    await context.log({ type: 'plan.written', payload: { plan: 'effect' } });
  return {
    ...planned,
    entries: [{ type: 'memory.proposed', payload: { kind: 'learning', title: 't', text: 'with the answer' } }],
  };
};

test('a process that stalled and wakes up after another took its step writes nothing more', async () => {
  const request = planRequest();
  const asleep = Promise.withResolvers<undefined>();
  const wake = Promise.withResolvers<undefined>();
  const stalled = deliver(fixture.store, 'stalled', request, async (_, context) => {
    asleep.resolve(undefined);
    await wake.promise;
    await context.log({ type: 'plan.written', payload: { plan: 'too late' } });
    return planned;
  });
  await asleep.promise;
  await fixture.store.query("update flow.lease set expires_at = '-infinity' where key = $1", [stepLeaseKey(request)]);
  await deliver(fixture.store, 'next', request, work);
  wake.resolve(undefined);
  await expect(stalled).rejects.toMatchObject({ code: 'LEASE_LOST' });
  expect(JSON.stringify(await fixture.store.readLog(request.runId))).not.toContain('too late');
});

test('a process that lost its lease does not answer, even before its successor has', async () => {
  const request = planRequest();
  const key = stepLeaseKey(request);
  const late = deliver(fixture.store, 'late', request, async () => {
    await fixture.store.query("update flow.lease set expires_at = '-infinity' where key = $1", [key]);
    expect(await acquireLease(fixture.store, key, 'next', 60_000)).toBeDefined();
    return planned;
  });
  await expect(late).rejects.toMatchObject({ code: 'LEASE_LOST' });
  const answers = await fixture.store.query('select 1 from flow.outbox where message_id like $1', [
    `${request.runId}/%/completed`,
  ]);
  expect(answers).toEqual([]);
});
