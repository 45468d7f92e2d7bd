import { PublishedGate, PublishedRun } from '@flotilla/contracts/calls/published-views';
import { GateId, RunId } from '@flotilla/contracts/ids';
import { stepLeaseKey, acquireLease, releaseLease } from '@flotilla/store/lease';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commit, done, step } from '../domain/run.fixture.ts';
import { ann, bob, createRouterFixture, failureOf, type RouterFixture } from './router.fixture.ts';

let fixture: RouterFixture;
beforeAll(async () => {
  fixture = await createRouterFixture();
});
afterAll(() => fixture.close());

/** Runs of one project share a lane; a branch of its own keeps a test apart. */
const opened = (branch: string) => {
  const outcome = done('open');
  return outcome.kind === 'done' && outcome.result.verb === 'open'
    ? ({ ...outcome, result: { ...outcome.result, branch } } as const)
    : outcome;
};
const submitOn = async (branch: string) => {
  const runId = await fixture.submit();
  await fixture.complete(runId, opened(branch));
  return runId;
};
const published = async (runId: RunId) => {
  const [row] = await fixture.readView(PublishedRun, 'run', 'run_id = $1', [runId]);
  if (row === undefined) throw new Error(`${runId} is not published`);
  return row;
};
const publishedGate = async (runId: RunId) =>
  (await fixture.readView(PublishedGate, 'gate', 'run_id = $1', [runId]))[0];

test('a run goes from intake to its landing: state, log, messages and views agree', async () => {
  const runId = await submitOn('story');
  const gate = await fixture.until(runId, 'gate');
  expect(await published(runId)).toMatchObject({
    state: 'at_gate',
    step_id: 'approve',
    gate_id: gate?.gateId,
    branch: 'story',
    result: null,
  });
  expect(await publishedGate(runId)).toMatchObject({
    state: 'open',
    question: 'Land this change on story?',
    goal: 'Keep digits.',
    change: { commit: commit('c') },
  });

  await fixture.until(runId, 'remember');
  await fixture.complete(runId, done('remember'));
  expect(await published(runId)).toMatchObject({
    state: 'ended',
    result: 'landed',
    commit: commit('c'),
    step_id: null,
    gate_id: null,
    spent: { turns: 7 },
    budget: { turns: 240 },
  });
  expect(await publishedGate(runId)).toMatchObject({ state: 'decided', decision: 'approve', decided_by: 'ann' });

  const log = await fixture.log(runId);
  expect(log.map(({ sequence }) => sequence)).toEqual(log.map((_, index) => index + 1));
  expect([log[0]?.type, log.at(-1)?.type]).toEqual(['task.accepted', 'run.ended']);
  const messages = await fixture.messages(runId);
  expect(messages.map(({ message_id }) => message_id)).toEqual(
    ['open', 'setup', 'plan', 'build', 'review', 'land', 'remember'].map((verb) => `${runId}/${verb}/1/requested`),
  );
});

test('an outcome that arrives twice at once moves the run once', async () => {
  const runId = await fixture.submit();
  const completion = {
    runId,
    stepId: step('open'),
    attempt: 1,
    outcome: done('open'),
    spent: { turns: 0, calls: 0, tokens: 0, microdollars: 0, seconds: 1 },
  };
  const decisions = await Promise.all([1, 2, 3].map(() => fixture.runs.completeStep(completion)));
  expect(decisions.map(({ kind }) => kind).sort()).toEqual(['advanced', 'ignored', 'ignored']);
  expect((await fixture.log(runId)).filter(({ type }) => type === 'step.completed')).toHaveLength(1);
});

test('a delivery is marked as handled with what it changed, and never twice', async () => {
  const runId = await fixture.submit();
  const completion = {
    runId,
    stepId: step('open'),
    attempt: 1,
    outcome: done('open'),
    spent: { turns: 0, calls: 0, tokens: 0, microdollars: 0, seconds: 1 },
  };
  const inbox = { messageId: `${runId}/open/1/completed`, stage: 'StepCompleted' };
  await fixture.runs.completeStep(completion, inbox);
  expect(await failureOf(fixture.runs.completeStep(completion, inbox))).toBe('DELIVERY_ALREADY_HANDLED');
});

test('of two decisions at once one counts and the other is told of it', async () => {
  const runId = await submitOn('race');
  const gate = await fixture.until(runId, 'gate');
  const wanted = { gateId: gate!.gateId, commit: gate!.change.commit };
  const codes = await Promise.all([
    failureOf(fixture.runs.decideGate({ ...wanted, decision: 'approve' }, ann)),
    failureOf(fixture.runs.decideGate({ ...wanted, decision: 'decline' }, bob)),
  ]);
  expect(codes.toSorted()).toEqual(['GATE_DECIDED', undefined]);
  expect((await fixture.log(runId)).filter(({ type }) => type === 'gate.decided')).toHaveLength(1);
});

/** Runs that wait at a gate as this one does. */
async function copyGate(runId: RunId, count: number) {
  const { gateId, change } = (await fixture.until(runId, 'gate'))!;
  const gates = [];
  for (let copy = 0; copy < count; copy += 1) {
    const name = `copy${copy}`.padStart(26, '0');
    for (const table of ['run', 'gate'])
      await fixture.store.query(
        `insert into router.${table} select (jsonb_populate_record(null::router.${table},
           replace(replace(to_jsonb(one)::text, $1, 'run_' || $3), $2, 'gate_' || $3)::jsonb)).*
         from router.${table} as one where ${table === 'run' ? 'id' : 'run_id'} = $1`,
        [runId, gateId, name],
      );
    gates.push({ gateId: GateId.parse(`gate_${name}`), change });
  }
  return gates;
}

test('of a hundred pairs of decisions at once each gate takes exactly one, and the other learns who made which', async () => {
  const gates = await copyGate(await submitOn('pairs'), 100);
  for (let from = 0; from < gates.length; from += 10) {
    await Promise.all(
      gates.slice(from, from + 10).map(async ({ gateId, change }) => {
        const wanted = { gateId, commit: change.commit };
        const made = [
          [ann, { ...wanted, decision: 'approve' }],
          [bob, { ...wanted, decision: 'decline' }],
        ] as const;
        const answers = await Promise.allSettled(made.map(([by, decision]) => fixture.runs.decideGate(decision, by)));
        const winner = answers.findIndex(({ status }) => status === 'fulfilled');
        const [by, { decision }] = made[winner]!;
        expect(answers[1 - winner]).toMatchObject({
          status: 'rejected',
          reason: { code: 'GATE_DECIDED', details: { gateId, by, decision } },
        });
      }),
    );
  }
});

test('a clock that steps an hour back and forth in the middle of a run changes neither its way nor the order of its log', async () => {
  const runId = await submitOn('clock');
  const ids = new Set([runId]);
  for (const [verb, seconds] of [
    ['plan', -3600],
    ['build', 3500],
    ['review', -7200],
    ['gate', 7300],
  ] as const) {
    await fixture.until(runId, verb);
    fixture.passTime(seconds);
    ids.add(await submitOn('clock'));
  }
  await fixture.until(runId, 'land');
  await fixture.complete(runId, done('land'));
  expect((await fixture.log(runId)).map(({ sequence }) => sequence)).toEqual(
    (await fixture.log(runId)).map((_, index) => index + 1),
  );
  expect((await fixture.readRun(runId)).position).toMatchObject({ kind: 'step', stepId: 'remember' });
  expect(ids.size).toBe(5);
});

test('a decision on another commit, on no gate, or after the end is refused', async () => {
  const runId = await submitOn('refusals');
  const gate = await fixture.until(runId, 'gate');
  const wanted = { gateId: gate!.gateId, commit: gate!.change.commit, decision: 'approve' } as const;
  expect(await failureOf(fixture.runs.decideGate({ ...wanted, commit: commit('d') }, ann))).toBe('GATE_COMMIT_DIFFERS');
  expect(await failureOf(fixture.runs.decideGate({ ...wanted, gateId: `gate_${'9'.repeat(26)}` as never }, ann))).toBe(
    'GATE_UNKNOWN',
  );
  expect(await fixture.runs.cancel(runId, ann)).toBe('ended');
  expect(await failureOf(fixture.runs.decideGate(wanted, ann))).toBe('GATE_WITHDRAWN');
  expect(await failureOf(fixture.runs.cancel(runId, ann))).toBe('RUN_ENDED');
});

test('one run at a time has the turn on a branch, and the next gets it when the first is through', async () => {
  const [first, second, third] = [await submitOn('lane'), await submitOn('lane'), await submitOn('lane')];
  const elsewhere = await submitOn('other-lane');
  for (const runId of [first, elsewhere]) await fixture.until(runId, 'land');
  for (const runId of [second, third]) {
    const gate = await fixture.until(runId, 'gate');
    await fixture.runs.decideGate({ gateId: gate!.gateId, decision: 'approve', commit: gate!.change.commit }, ann);
    fixture.passTime(1);
  }
  expect((await published(second)).state).toBe('awaiting_turn');
  expect((await published(elsewhere)).state).toBe('running');
  await fixture.complete(first, done('land'));
  expect((await published(second)).state).toBe('running');
  expect((await published(third)).state).toBe('awaiting_turn');
  expect(await fixture.runs.cancel(second, ann)).toBe('cancelling');
  expect((await published(third)).state).toBe('awaiting_turn');
  await fixture.complete(second, { kind: 'cancelled' });
  expect((await published(third)).state).toBe('running');
  expect((await fixture.messages(third)).at(-1)?.message_id).toBe(`${third}/land/1/requested`);
});

test('approvals of one branch at the same moment give the turn to one run', async () => {
  // From the second run on the lane is a row that is there, which nobody waits for by making it.
  const before = await submitOn('crowd');
  await fixture.until(before, 'land');
  await fixture.complete(before, done('land'));
  const runIds = await Promise.all([1, 2, 3].map(() => submitOn('crowd')));
  const gates = await Promise.all(runIds.map((runId) => fixture.until(runId, 'gate')));
  await Promise.all(
    gates.map((gate) =>
      fixture.runs.decideGate({ gateId: gate!.gateId, decision: 'approve', commit: gate!.change.commit }, ann),
    ),
  );
  const states = await Promise.all(runIds.map(async (runId) => (await published(runId)).state));
  expect(states.toSorted()).toEqual(['awaiting_turn', 'awaiting_turn', 'running']);
});

test('a step at work is asked to stop, and its answer ends the run', async () => {
  const runId = await submitOn('cancel-at-work');
  const lease = await acquireLease(
    fixture.store,
    stepLeaseKey({ runId, stepId: 'setup', attempt: 1 }),
    'worker',
    60_000,
  );
  expect(await fixture.runs.cancel(runId, bob, 'Wrong.')).toBe('cancelling');
  expect(await fixture.runs.cancel(runId, bob)).toBe('cancelling');
  await releaseLease(fixture.store, lease!);
  await fixture.complete(runId, { kind: 'cancelled' });
  expect(await published(runId)).toMatchObject({ state: 'ended', result: 'cancelled' });
  expect((await fixture.log(runId)).filter(({ type }) => type === 'run.cancel_requested')).toHaveLength(1);
});

test('a worker begins a step either before its run is cancelled or after, and then knows', async () => {
  const runIds = await Promise.all(Array.from({ length: 20 }, () => submitOn('cancel-race')));
  await Promise.all(
    runIds.map(async (runId) => {
      const key = stepLeaseKey({ runId, stepId: 'setup', attempt: 1 });
      const begin = async () => {
        const lease = await acquireLease(fixture.store, key, 'worker', 60_000);
        const ended = await fixture.store.readLog(runId, { types: ['run.ended', 'run.cancel_requested'] });
        return lease !== undefined && ended.length === 0;
      };
      const [working, state] = await Promise.all([begin(), fixture.runs.cancel(runId, bob)]);
      if (working) expect(state).toBe('cancelling');
    }),
  );
});

test('text with characters that a column does not take is kept all the same', async () => {
  const runId = await fixture.submit({ goal: 'Keep \u0000 digits.' });
  await fixture.complete(runId, { kind: 'failed', code: 'X', message: 'a\u0000b', advice: 'c' });
  expect(await published(runId)).toMatchObject({ goal: 'Keep \ufffd digits.', message: 'a\ufffdb' });
  expect(await fixture.intake.retry(runId, ann)).toMatchObject({ created: true });
});

test('everything of a run is in the trace that began it, whoever decides', async () => {
  const trace = { traceparent: `00-${'a'.repeat(32)}-${'1'.repeat(16)}-01` };
  fixture.traceWith(trace);
  const runId = await submitOn('trace');
  fixture.traceWith({ traceparent: `00-${'b'.repeat(32)}-${'2'.repeat(16)}-01` });
  const gate = await fixture.until(runId, 'gate');
  await fixture.runs.decideGate({ gateId: gate!.gateId, decision: 'approve', commit: gate!.change.commit }, ann);
  fixture.traceWith(undefined);
  expect((await fixture.messages(runId)).at(-1)).toMatchObject({
    message_id: `${runId}/land/1/requested`,
    headers: trace,
  });
  expect((await published(runId)).traceparent).toBe(trace.traceparent);
});
