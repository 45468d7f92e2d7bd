import { stepRequests } from '@flotilla/contracts/catalogue';
import { eventCatalogue, type NewLogEntry } from '@flotilla/contracts/log-entry';
import type { Outcome } from '@flotilla/contracts/outcome';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Advance, RunEvent, Turn } from './decision.ts';
import {
  after,
  ann,
  change,
  conflict,
  done,
  DrivenRun,
  failed,
  featureBuilder,
  gateNumber,
  quickFix,
  runId,
  spentTokens,
  step,
  unwanted,
} from './run.fixture.ts';
import { RunState } from './run-state.ts';

type Move = (driven: DrivenRun) => RunEvent;

const digits = fc.constantFrom('1', '2', '3', '4');
const troubles: readonly Outcome[] = [
  unwanted,
  conflict,
  failed,
  { kind: 'no_changes', reason: 'Right already.' },
  { kind: 'limit_reached', limit: 'turns' },
  { kind: 'cancelled' },
];
const ofMerge = digits.chain((digit) =>
  fc.constantFrom<Outcome>(
    { kind: 'unverified', candidate: change(digit, 'f') },
    { kind: 'parked', candidate: change(digit, 'f'), reason: 'It differs.' },
  ),
);

/** A fitting outcome most of the time, so that runs get far; any outcome at any step otherwise. */
const completes: fc.Arbitrary<Move> = fc
  .record({
    digit: digits,
    other: fc.oneof(
      { weight: 3, arbitrary: fc.constant(undefined) },
      { weight: 1, arbitrary: fc.oneof(fc.constantFrom(...troubles), ofMerge) },
    ),
    tokens: fc.integer({ min: 0, max: 300_000 }),
    late: fc.boolean(),
    priced: fc.boolean(),
  })
  .map(({ digit, other, tokens, late, priced }): Move => ({ run, slip }) => {
    const position = run.position;
    const stepId = position?.kind === 'step' ? position.stepId : step('build');
    const attempt = position?.kind === 'step' ? position.attempt : 1;
    const at = slip.steps[stepId];
    const outcome = other ?? done(at?.kind === 'work' ? at.does : 'build', digit);
    const old = late && attempt > 1 ? attempt - 1 : attempt;
    return {
      kind: 'stepCompleted',
      completion: { runId, stepId, attempt: old, outcome, spent: spentTokens(tokens, priced ? tokens : null) },
    };
  });
const decides: fc.Arbitrary<Move> = fc
  .record({
    decision: fc.constantFrom('approve', 'approve', 'approve', 'request_changes', 'decline'),
    stale: fc.integer({ min: 0, max: 9 }),
  })
  .map(({ decision, stale }): Move => ({ run }) => {
    const position = run.position?.kind === 'gate' ? run.position : undefined;
    const gateId = position === undefined || stale === 0 ? gateNumber(999) : position.gateId;
    const commit = position === undefined || stale === 1 ? change('9').commit : position.change.commit;
    return { kind: 'gateDecided', gateId, decision: decision as 'approve', by: ann, commit };
  });
const others: fc.Arbitrary<Move> = fc
  .record({
    kind: fc.constantFrom('turnGranted', 'turnGranted', 'cancelRequested', 'deadlinePassed'),
    atWork: fc.boolean(),
  })
  .map(
    ({ kind, atWork }): Move =>
      () =>
        kind === 'turnGranted'
          ? { kind }
          : kind === 'cancelRequested'
            ? { kind, by: ann, atWork }
            : { kind: 'deadlinePassed', atWork },
  );
const moves = fc.array(
  fc.record({
    move: fc.oneof(
      { weight: 12, arbitrary: completes },
      { weight: 6, arbitrary: decides },
      { weight: 1, arbitrary: others },
    ),
    turn: fc.constantFrom<Turn>({ kind: 'free' }, { kind: 'free' }, { kind: 'behind', runId: 'run_other' }),
    seconds: fc.integer({ min: 0, max: 200 }),
  }),
  { minLength: 5, maxLength: 80 },
);

/** Plays the moves and looks at the run after each, ignored ones too. */
function play(
  script: readonly { move: Move; turn: Turn; seconds: number }[],
  driven: DrivenRun,
  look: (advance: Advance, driven: DrivenRun) => void,
): void {
  let elapsed = 0;
  for (const { move, turn, seconds } of script) {
    elapsed += seconds;
    driven.now = after(elapsed);
    driven.turn = driven.run.holdsTurn ? { kind: 'free' } : turn;
    const decision = driven.decide(move(driven));
    if (decision.kind === 'ignored') continue;
    driven.all.push(decision);
    driven.run = decision.run;
    look(decision, driven);
  }
}

const check = (
  look: (advance: Advance, driven: DrivenRun) => void,
  end: (driven: DrivenRun) => void = () => undefined,
) =>
  fc.assert(
    fc.property(fc.constantFrom(featureBuilder, quickFix), moves, (slip, script) => {
      const driven = new DrivenRun(slip);
      play(script, driven, look);
      end(driven);
    }),
    { numRuns: 400 },
  );

const typesOf = (driven: DrivenRun) => driven.entries.map(({ type }) => type);
const lastIndex = (entries: readonly NewLogEntry[], wanted: (entry: NewLogEntry) => boolean) =>
  entries.findLastIndex(wanted);

test('a run has at most one end, and nothing is written after it', () => {
  check(
    () => undefined,
    (driven) => {
      const ends = typesOf(driven).flatMap((type, index) => (type === 'run.ended' ? [index] : []));
      expect(ends.length).toBeLessThanOrEqual(1);
      if (ends[0] !== undefined) expect(ends[0]).toBe(driven.entries.length - 1);
    },
  );
});

test('landing is asked for only with an approval of exactly that commit, given after it was built', () => {
  check((advance, driven) => {
    const [request] = advance.requests;
    if (request?.verb !== 'land') return;
    const approval = driven.entries.findLast(({ type }) => type === 'gate.decided');
    expect(approval?.payload).toMatchObject({ decision: 'approve', commit: request.approved.commit });
    const approved = lastIndex(driven.entries, ({ type }) => type === 'gate.decided');
    const built = lastIndex(driven.entries, ({ type, stepId }) => type === 'step.requested' && stepId === 'build');
    expect(approved).toBeGreaterThan(built);
  });
});

test('a run is landed exactly where a landing was answered, and a limit is never success', () => {
  check(({ ended }, driven) => {
    if (ended === undefined) return;
    const landed = driven.entries.some(
      ({ type, payload }) => type === 'step.completed' && JSON.stringify(payload).includes('"verb":"land"'),
    );
    expect(ended.result === 'landed').toBe(landed);
    expect(ended.commit !== undefined).toBe(landed);
  });
});

test('a run that was asked to land is ended by an answer to that alone', () => {
  check(({ ended, entries }, driven) => {
    const before = driven.all.at(-2)?.run.position;
    if (ended === undefined || before?.kind !== 'step' || before.stepId !== 'land') return;
    expect(entries[0]).toMatchObject({ type: 'step.completed', stepId: 'land' });
  });
});

test('a turn is held only while landing or verifying', () => {
  check(({ run, requests }) => {
    if (run.holdsTurn)
      expect(['land', 'verify']).toContain(run.position?.kind === 'step' ? run.position.stepId : undefined);
    if (requests[0]?.verb === 'land') expect(run.holdsTurn).toBe(true);
  });
});

test('a request never allows more than the run has left, and what was spent never shrinks', () => {
  check((advance, driven) => {
    const before = driven.all.at(-2)?.run.spent;
    expect(advance.run.spent.tokens).toBeGreaterThanOrEqual(before?.tokens ?? 0);
    const [request] = advance.requests;
    if (request === undefined || !('allowance' in request)) return;
    expect(request.allowance.tokens).toBeGreaterThan(0);
    expect(request.allowance.tokens).toBeLessThanOrEqual(driven.slip.budget.tokens - advance.run.spent.tokens);
  });
});

test('a run takes no more steps than its slip allows', () => {
  check(({ run }, { slip }) => {
    expect(Object.values(run.visits).reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(slip.maxSteps);
  });
});

test('everything that is decided can be written: state, entries and requests keep their shapes', () => {
  const shapes = new Map(eventCatalogue.map((contract) => [contract.type, contract.payload]));
  check((advance) => {
    expect(RunState.parse(JSON.parse(JSON.stringify(advance.run)))).toEqual(advance.run);
    for (const { type, payload } of advance.entries) expect(shapes.get(type)?.safeParse(payload).error).toBeUndefined();
    for (const request of advance.requests) {
      const contract = stepRequests[request.verb];
      expect(contract.payload.safeParse(request).error).toBeUndefined();
    }
  });
});

test('the moves of these properties take runs to every kind of end', () => {
  const results = new Set<string>();
  check(({ ended }) => {
    if (ended !== undefined) results.add(ended.result);
  });
  expect([...results].sort()).toEqual(['cancelled', 'declined', 'failed', 'landed', 'limit_reached', 'no_changes']);
});
