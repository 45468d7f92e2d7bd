import type { RunId } from '@flotilla/contracts/ids';
import { PlanStepRequested } from '@flotilla/contracts/messages/plan-step-requested';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { readInbox } from '@flotilla/store/inbox';
import { acquireLease, stepLeaseKey } from '@flotilla/store/lease';
import type { Settlement } from '@flotilla/stream/decide-settlement';
import type { Arrival, Claim } from '@flotilla/stream/delivery-guard';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createHostFixture, eventually, type HostFixture, type PlanRequest, planRequest } from './host.fixture.ts';
import { StoreGuard } from './store-guard.ts';

let fixture: HostFixture;
beforeAll(async () => {
  fixture = await createHostFixture();
});
afterAll(() => fixture?.close());

const stage = PlanStepRequested.name;
const arrivalOf = (request: PlanRequest): Arrival => ({
  messageId: PlanStepRequested.messageId(request),
  stage,
  delivery: 1,
  contract: PlanStepRequested as unknown as Arrival['contract'],
  message: request,
  leaseKey: stepLeaseKey(request),
});
const createGuard = (leaseMs = 60_000) =>
  new StoreGuard({ store: fixture.store, instance: 'test', bury: () => Promise.resolve(), leaseMs });
const begin = async (guard: StoreGuard, request: PlanRequest): Promise<Claim> => {
  const begun = await guard.begin(arrivalOf(request));
  if (begun.kind !== 'proceed') throw new Error(`the delivery did not begin: ${begun.kind}`);
  return begun.claim;
};
const failed: Settlement = {
  kind: 'later',
  delayMs: 20,
  counted: true,
  error: new FlotillaError({ code: 'BUSY', remedy: 'retry', summary: 'busy', advice: 'Wait.' }),
};
const inboxOf = (request: PlanRequest) => readInbox(fixture.store, arrivalOf(request).messageId, stage);
const told = (runId: RunId) => fixture.store.readLog(runId, { types: ['step.attempt_failed'] });

test('a failure is told and counted and its lease given back', async () => {
  const guard = createGuard();
  const request = planRequest();
  await guard.settle(await begin(guard, request), failed);
  expect(await told(request.runId)).toMatchObject([{ payload: { code: 'BUSY', retryInMs: 20, waiting: false } }]);
  expect(await inboxOf(request)).toMatchObject({ failures: 1, open: 0 });
  expect((await begin(guard, request)).failures).toBe(1);
});

test('a failure whose lease was lost meanwhile is counted, and leaves the log to the new holder', async () => {
  const guard = createGuard(1);
  const request = planRequest();
  const claim = await begin(guard, request);
  await eventually(
    'another has the lease',
    async () => (await acquireLease(fixture.store, stepLeaseKey(request), 'another', 60_000)) !== undefined,
  );
  await guard.settle(claim, failed);
  expect(await told(request.runId)).toEqual([]);
  expect(await inboxOf(request)).toMatchObject({ failures: 1, open: 0 });
});

test('what Postgres was away for is settled later, and not taken for a death of the process', async () => {
  const guard = createGuard(1);
  const request = planRequest();
  const claim = await begin(guard, request);
  const unavailable = new FlotillaError(errors.storeUnavailable, { reason: 'away' });
  await fixture.postgres.kill();
  await expect(
    guard.settle(claim, { kind: 'later', delayMs: 0, counted: false, error: unavailable }),
  ).rejects.toMatchObject({ remedy: 'wait' });
  await expect(guard.begin(arrivalOf(request))).rejects.toMatchObject({ remedy: 'wait' });
  await fixture.postgres.start();
  await eventually('Postgres is back', () => fixture.store.query('select 1').then(Boolean, () => false));
  await begin(guard, request);
  expect(await inboxOf(request)).toMatchObject({ deliveries: 2, failures: 0, open: 1 });
});

test('of several deliveries that Postgres was away for none is forgotten, however often it goes', async () => {
  const guard = createGuard(1);
  const requests = [planRequest(), planRequest()];
  const unavailable = new FlotillaError(errors.storeUnavailable, { reason: 'away' });
  for (let outage = 1; outage <= 4; outage += 1) {
    const claims: Claim[] = [];
    for (const request of requests) claims.push(await begin(guard, request));
    await fixture.postgres.kill();
    for (const claim of claims) {
      await expect(
        guard.settle(claim, { kind: 'later', delayMs: 0, counted: false, error: unavailable }),
      ).rejects.toMatchObject({ remedy: 'wait' });
    }
    const early = await Promise.allSettled(requests.map((request) => guard.begin(arrivalOf(request))));
    expect(early.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await fixture.postgres.start();
    await eventually('Postgres is back', () => fixture.store.query('select 1').then(Boolean, () => false));
  }
  const begun = await Promise.all(requests.map((request) => guard.begin(arrivalOf(request))));
  expect(begun.map(({ kind }) => kind)).toEqual(['proceed', 'proceed']);
  for (const request of requests) expect(await inboxOf(request)).toMatchObject({ deliveries: 5, open: 1 });
});
