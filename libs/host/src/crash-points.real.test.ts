import { PlanStepRequested } from '@flotilla/contracts/messages/plan-step-requested';
import { deadSubject } from '@flotilla/contracts/streams';
import { pollUntil } from '@flotilla/testing/servers/child-server';
import { publishRaw } from '@flotilla/stream/publish-message';
import type { MortalProcess } from '@flotilla/testing/crash-points/mortal-process';
import { tryEveryPoint } from '@flotilla/testing/crash-points/try-every-point';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CrashProcess, openCrashWorld, type CrashWorld, type MessageLife } from './crash-world.fixture.ts';
import { planned, planRequest, PlanWork, type Work } from './host.fixture.ts';
import { type OutboxRelay, startOutboxRelay } from './outbox-relay.ts';
import { stepStage } from './step-stage.ts';

let world: CrashWorld;
beforeAll(async () => {
  world = await openCrashWorld();
});
afterAll(() => world?.close());

const stage = stepStage(PlanStepRequested, PlanWork, { concurrency: 1, budget: { attempts: 1, delaysMs: [] } });
const lifeOf = (work: Work): MessageLife => ({
  service: 'planner',
  stage,
  handler: (process) => process.stepHandler<PlanStepRequested>('planner', new PlanWork(work)),
});

function liveWith(work: Work) {
  return async (mortal: MortalProcess) => {
    await world.empty();
    await world.publish(PlanStepRequested, planRequest());
    await world.settle(mortal, lifeOf(work));
    return world.endState();
  };
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

test('whichever call a process dies at while it does a step, the next ones bring the step to the same end', async () => {
  expect(await tryEveryPoint({ name: 'step', live: liveWith(work) })).toBeGreaterThan(20);
});

test('the same holds for a step that is answered without entries of its own', async () => {
  const live = liveWith(() => Promise.resolve(planned));
  expect(await tryEveryPoint({ name: 'step without entries', live })).toBeGreaterThan(8);
});

test('whichever call a process dies at while it buries a message, there is one dead letter and one answer', async () => {
  const live = liveWith(() => Promise.reject(new FlotillaError(errors.setupUnsupported, { reason: 'it is' })));
  expect(await tryEveryPoint({ name: 'dead letter', live })).toBeGreaterThan(15);
});

/** A relay as every process has it; sweeps at once where the process that committed is gone. */
function startRelay({ store, broker }: Pick<CrashProcess, 'store' | 'broker'>, sweepEveryMs = 60_000): OutboxRelay {
  return startOutboxRelay({
    store,
    publish: (message) => publishRaw(broker, message),
    announce: () => undefined,
    subjects: ['>'],
    connected: () => true,
    logger: pino({ level: 'silent' }),
    monotonicMs: () => performance.now(),
    sweepEveryMs,
    olderThanMs: 0,
  });
}

test('whichever call a process dies at while it relays the outbox, every message comes to the broker once', async () => {
  const commit = (process: Pick<CrashProcess, 'store'>, runId: string) =>
    process.store.transaction(async (transaction) => {
      for (const place of ['one', 'two'])
        await transaction.publishRaw({ subject: deadSubject(place), messageId: `${runId}/${place}`, payload: '{}' });
    });
  const waiting = () => world.store.query('select 1 from flow.outbox where published_at is null');
  const live = async (mortal: MortalProcess) => {
    await world.empty();
    const { runId } = planRequest();
    await world.during(mortal, async (process) => {
      const relay = startRelay(process);
      await commit(process, runId);
      await relay.stop();
    });
    // What was never committed is asked for again.
    const committed = await world.store.query('select 1 from flow.outbox');
    if (committed.length === 0) await commit(world, runId);
    const relay = startRelay(world, 5);
    await pollUntil('the outbox is empty', 10_000, async () => (await waiting()).length === 0);
    await relay.stop();
    const { state } = await world.broker.jsm.streams.info('DEAD');
    return state.messages;
  };
  expect(await tryEveryPoint({ name: 'outbox relay', live })).toBeGreaterThan(8);
});
