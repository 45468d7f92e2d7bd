import { PlanStepRequested } from '@flotilla/contracts/messages/plan-step-requested';
import { StepCompleted } from '@flotilla/contracts/messages/step-completed';
import { createGroupedWrites } from '@flotilla/store/grouped-writes';
import { acquireLease, stepLeaseKey } from '@flotilla/store/lease';
import { takeUnpublished } from '@flotilla/store/outbox';
import type { Store } from '@flotilla/store/store';
import type { Transaction } from '@flotilla/store/transaction';
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

class Death extends Error {}

/** A process that dies once it has awaited the store `lives` times: nothing it does afterwards happens, and nothing returns. */
function createDyingStore(store: Store, lives: number) {
  let left = lives;
  const died = Promise.withResolvers<undefined>();
  const never = new Promise<never>(() => undefined);
  const die = (): Promise<never> => {
    died.resolve(undefined);
    return never;
  };
  const live = async <T>(work: () => Promise<T>): Promise<T> => {
    if (left <= 0) return die();
    const value = await work();
    left -= 1;
    return left <= 0 ? die() : value;
  };
  const inside = (transaction: Transaction): Transaction =>
    new Proxy(transaction, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        return async (...given: unknown[]) => {
          const value: unknown = await Reflect.apply(member, target, given);
          left -= 1;
          if (left <= 0) throw new Death();
          return value;
        };
      },
    });
  const dying: Store = {
    ...store,
    query: (text, parameters) => live(() => store.query(text, parameters)),
    readLog: (runId, options) => live(() => store.readLog(runId, options)),
    transaction: async (work) => {
      if (left <= 0) return die();
      try {
        const value = await store.transaction((transaction) => work(inside(transaction)));
        left -= 1;
        return left <= 0 ? await die() : value;
      } catch (error) {
        if (error instanceof Death) return die();
        throw error;
      }
    },
  };
  const ports = {
    spills: { put: () => never, get: () => never },
    clock: () => new Date(),
    traceContext: () => undefined,
  };
  return {
    store: { ...dying, grouped: createGroupedWrites(dying, ports, () => undefined) },
    died: died.promise,
  };
}

/** One delivery as the runner makes it; it never resolves when its process dies. */
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

test('a process may die after any await of a step: the next one brings the run to the same end', async () => {
  let completed = false;
  let points = 0;
  for (let lives = 1; !completed; lives += 1) {
    const request = planRequest();
    const dying = createDyingStore(fixture.store, lives);
    completed = await Promise.race([
      deliver(dying.store, 'dying', request, work).then(() => true),
      dying.died.then(() => false),
    ]);
    points += completed ? 0 : 1;
    await fixture.store.query("update flow.lease set expires_at = '-infinity' where key = $1", [stepLeaseKey(request)]);

    await deliver(fixture.store, 'next', request, work);
    const types = await fixture.entries(request.runId, request.stepId);
    const without = types.filter((type) => type !== 'step.started');
    expect({ lives, entries: without }).toEqual({ lives, entries: ['plan.written', 'memory.proposed'] });
    const [inbox] = await fixture.store.query(
      'select handled_at is not null as handled, failures from flow.inbox where message_id = $1',
      [PlanStepRequested.messageId(request)],
    );
    expect({ lives, inbox }).toEqual({ lives, inbox: { handled: true, failures: 0 } });
    const waiting = await takeUnpublished(fixture.store, {
      olderThanMs: 0,
      limit: 1_000,
      subjects: [StepCompleted.subject],
    });
    const answerId = `${request.runId}/${request.stepId}/${request.attempt}/completed`;
    const answers = waiting.filter(({ messageId }) => messageId === answerId);
    expect({ lives, answers: answers.length }).toEqual({ lives, answers: 1 });
    expect(await fixture.store.query('select 1 from flow.lease where key = $1', [stepLeaseKey(request)])).toEqual([]);
  }
  expect(points).toBeGreaterThan(10);
});

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
