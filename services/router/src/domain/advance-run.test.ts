import { expect, test } from 'vitest';
import {
  after,
  ann,
  change,
  commit,
  conflict,
  done,
  DrivenRun,
  evidence,
  failed,
  featureBuilder,
  gateNumber,
  step,
  tree,
  unwanted,
} from './run.fixture.ts';

test('a run goes from intake to its landed change', () => {
  const driven = new DrivenRun();
  const seen = [driven.at];
  for (const verb of ['open', 'setup', 'plan', 'build', 'review'] as const) seen.push(driven.complete(done(verb)).at);
  seen.push(driven.gate('approve').at, driven.complete(done('land')).at, driven.complete(done('remember')).at);
  expect(seen).toEqual(['open', 'setup', 'plan', 'build', 'review', 'gate approve', 'land', 'remember', 'landed']);
  expect(driven.last.ended).toMatchObject({
    result: 'landed',
    commit: commit('c'),
    spent: { turns: 7, tokens: 70, microdollars: 0 },
  });
  expect(
    driven.entries.map(({ type }) => type).filter((type) => type !== 'step.requested' && type !== 'step.completed'),
  ).toEqual(['task.accepted', 'gate.opened', 'gate.decided', 'run.ended']);
});

test('a step is asked for with what the steps before it gave', () => {
  const driven = new DrivenRun().until('build');
  expect(driven.last.requests).toEqual([
    expect.objectContaining({
      verb: 'build',
      attempt: 1,
      repository: 'example.com/a',
      branch: 'main',
      setupKey: 'deps',
      plan: 'Keep digits.',
      feedback: [],
      base: { commit: commit('a'), tree: tree('a'), bundle: 'base/a' },
      verification: 'auto',
    }),
  ]);
  expect(driven.last.requests[0]).not.toHaveProperty('change');
});

test('a task without setup says so to the setup step', () => {
  expect(new DrivenRun(featureBuilder, false).until('setup').last.requests[0]).toMatchObject({
    verb: 'setup',
    skip: true,
  });
});

test('the approval is of the commit that the gate shows, and landing carries it with its evidence', () => {
  const driven = new DrivenRun().until('gate approve');
  expect(driven.last.gates).toEqual([
    expect.objectContaining({ kind: 'open', question: 'Land this change on main?', change: change('c') }),
  ]);
  driven.gate('approve');
  expect(driven.last.requests[0]).toMatchObject({
    verb: 'land',
    approved: change('c'),
    evidence: [evidence('c')],
    approvedBy: 'ann',
  });
  expect(driven.last.requests[0]).not.toHaveProperty('candidate');
  expect(driven.last.lane).toBe('take');
});

test('a decision on another commit or another gate is ignored', () => {
  const driven = new DrivenRun().until('gate approve');
  const decision = {
    kind: 'gateDecided',
    gateId: gateNumber(5),
    decision: 'approve',
    by: ann,
    commit: commit('c'),
  } as const;
  expect(driven.decide({ ...decision, commit: commit('d') })).toEqual({ kind: 'ignored', reason: 'another_gate' });
  expect(driven.decide({ ...decision, gateId: gateNumber(9) })).toEqual({ kind: 'ignored', reason: 'another_gate' });
  expect(driven.decide(decision).kind).toBe('advanced');
});

test('what a review found goes back to the author with the change so far', () => {
  const driven = new DrivenRun().until('review').complete(unwanted);
  expect(driven.last.requests[0]).toMatchObject({
    verb: 'build',
    attempt: 2,
    change: change('c'),
    feedback: [{ from: 'review', text: 'Not yet.', findings: [{ severity: 'critical', text: 'No.' }] }],
  });
  expect(driven.complete(done('build', 'd')).last.requests[0]).toMatchObject({ verb: 'review', change: change('d') });
  expect(driven.run.known.feedback).toEqual([]);
});

test("a person's change request goes back to the author, and the next commit needs its own approval", () => {
  const driven = new DrivenRun().until('gate approve').gate('request_changes', 'Keep umlauts too.');
  expect(driven.last.requests[0]).toMatchObject({
    verb: 'build',
    change: change('c'),
    feedback: [{ from: 'person', text: 'Keep umlauts too.' }],
  });
  driven.until('gate approve', 'd');
  expect(driven.last.gates).toEqual([expect.objectContaining({ change: change('d') })]);
});

test('a conflict takes the change back to its author on the new head, and gives the turn away', () => {
  const driven = new DrivenRun().until('land').complete(conflict);
  expect(driven.last).toMatchObject({ lane: 'release', requests: [{ verb: 'setup', base: { commit: commit('f') } }] });
  expect(driven.complete(done('setup')).last.requests[0]).toMatchObject({
    verb: 'build',
    base: { commit: commit('f'), bundle: 'base/f' },
    change: change('c'),
    feedback: [{ from: 'conflict', paths: ['a.js'] }],
  });
  expect(driven.run.known.approval).toBeUndefined();
  expect(driven.until('gate approve', 'd').gate('approve').last.requests[0]).toMatchObject({
    verb: 'land',
    approved: change('d'),
  });
});

test('a merge without evidence is verified with the turn kept, and lands with what was found', () => {
  const driven = new DrivenRun().until('land').complete({ kind: 'unverified', candidate: change('e', 'f') });
  expect(driven.last).toMatchObject({ lane: 'keep', requests: [{ verb: 'verify', candidate: change('e', 'f') }] });
  driven.complete(done('verify', 'e'));
  expect(driven.last).toMatchObject({
    lane: 'keep',
    requests: [
      {
        verb: 'land',
        attempt: 2,
        approved: change('c'),
        candidate: change('e', 'f'),
        evidence: [evidence('c'), evidence('e')],
      },
    ],
  });
});

test('a merge that fails its checks goes back to the author on the head that it was merged with', () => {
  const driven = new DrivenRun()
    .until('land')
    .complete({ kind: 'unverified', candidate: change('e', 'f') })
    .complete(unwanted);
  const base = { commit: commit('f'), bundle: change('e', 'f').bundle };
  expect(driven.last).toMatchObject({ lane: 'release', requests: [{ verb: 'setup', base }] });
  expect(driven.complete(done('setup')).last.requests).toMatchObject([
    { verb: 'build', base, change: change('c'), feedback: [{ from: 'checks' }] },
  ]);
});

test('a merge that is no longer what was approved opens the gate again, on the merge', () => {
  const driven = new DrivenRun()
    .until('land')
    .complete({ kind: 'parked', candidate: change('e', 'f'), reason: 'The diff differs.' });
  expect(driven.at).toBe('gate approve');
  expect(driven.last).toMatchObject({ lane: 'release', gates: [{ kind: 'open', change: change('e', 'f') }] });
  driven.gate('approve');
  expect(driven.last.requests[0]).toMatchObject({ verb: 'land', approved: change('e', 'f') });
});

test('a gate that is opened again says why, and one opened for a change built since does not', () => {
  const driven = new DrivenRun().until('gate approve');
  expect(driven.last.gates).toMatchObject([{ question: expect.not.stringContaining('again') }]);
  driven.until('land').complete({ kind: 'parked', candidate: change('e', 'f'), reason: 'The diff differs.' });
  const question = expect.stringMatching(/ Asked again: The diff differs\.$/);
  expect(driven.last).toMatchObject({
    gates: [{ question }],
    entries: [{ type: 'step.completed' }, { type: 'gate.opened', payload: { question } }],
  });
  driven.gate('request_changes', 'No.').until('gate approve');
  expect(driven.last.gates).toMatchObject([{ question: expect.not.stringContaining('again') }]);
});

test('changes requested at a parked merge go back to what the author made', () => {
  const driven = new DrivenRun()
    .until('land')
    .complete({ kind: 'parked', candidate: change('e', 'f'), reason: 'The diff differs.' });
  expect(driven.gate('request_changes', 'No.').last.requests[0]).toMatchObject({
    verb: 'build',
    change: change('c'),
    base: { commit: commit('a') },
  });
});

test('a run whose change the branch holds already ends without changes, and nobody is asked again', () => {
  const driven = new DrivenRun().until('land').complete({ kind: 'no_changes', reason: 'The branch holds it.' });
  expect(driven.last.requests).toMatchObject([{ verb: 'remember', result: 'no_changes' }]);
  expect(driven.last.gates).toEqual([]);
  expect(driven.complete(done('remember')).last.ended).toMatchObject({ result: 'no_changes' });
});

test('a declined change ends the run', () => {
  const driven = new DrivenRun().until('gate approve').gate('decline', 'Not wanted.');
  expect(driven.last.ended).toMatchObject({
    result: 'declined',
    code: 'RUN_DECLINED',
    message: 'ann declined the change',
  });
  expect(driven.last.gates).toMatchObject([
    { kind: 'decided', payload: { decision: 'decline', comment: 'Not wanted.' } },
  ]);
});

test('a build without changes is remembered and ends as such', () => {
  const driven = new DrivenRun().until('build').complete({ kind: 'no_changes', reason: 'It is right already.' });
  expect(driven.last.requests[0]).toMatchObject({ verb: 'remember', result: 'no_changes' });
  expect(driven.complete(done('remember')).last.ended).toMatchObject({ result: 'no_changes' });
});

test.each([failed, { kind: 'limit_reached', limit: 'turns' }, { kind: 'cancelled' }] as const)(
  'a memory that ends $kind leaves the change landed',
  (outcome) => {
    const { ended } = new DrivenRun().until('remember').complete(outcome).last;
    expect(ended).toMatchObject({ result: 'landed', commit: commit('c') });
    expect(ended).not.toHaveProperty('code');
  },
);

test.each(['open', 'setup', 'plan', 'build', 'review', 'land'])('%s that fails ends the run with its words', (verb) => {
  const driven = new DrivenRun().until(verb).complete(failed);
  expect(driven.last.ended).toMatchObject({
    result: 'failed',
    stepId: verb,
    code: 'BROKEN',
    message: 'It broke',
    advice: 'Mend it.',
  });
});

test('a result of another verb fails the run and teaches it nothing', () => {
  const driven = new DrivenRun().until('build').complete(done('land'));
  expect(driven.last.ended).toMatchObject({ result: 'failed', code: 'RESULT_FOREIGN' });
  expect(driven.run.known.landed).toBeUndefined();
});

test('an outcome that the step never has fails the run', () => {
  expect(new DrivenRun().until('plan').complete(conflict).last.ended).toMatchObject({
    result: 'failed',
    code: 'RUN_STOPPED',
  });
});

test('an outcome of a past attempt is ignored, and so is the same outcome told twice', () => {
  const driven = new DrivenRun().until('review');
  const told = driven.completion(unwanted);
  driven.send(told);
  expect(driven.decide(told)).toEqual({ kind: 'ignored', reason: 'another_step' });
  driven.complete(done('build', 'd'));
  expect(driven.decide(told)).toEqual({ kind: 'ignored', reason: 'another_attempt' });
});

test('nothing moves a run that ended', () => {
  const driven = new DrivenRun();
  const told = driven.completion(done('open'));
  driven.complete(failed);
  driven.now = after(1e9);
  for (const event of [
    told,
    { kind: 'turnGranted' },
    { kind: 'cancelRequested', by: ann, atWork: false },
    { kind: 'deadlinePassed', atWork: false },
  ] as const) {
    expect(driven.decide(event)).toEqual({ kind: 'ignored', reason: 'ended' });
  }
});

test('a slip that would land without an approval fails the run instead', () => {
  const driven = new DrivenRun().until('review');
  const review = driven.slip.steps[step('review')]!;
  const steps = { ...driven.slip.steps, review: { ...review, on: { done: 'land' } } };
  const straight = new DrivenRun({ ...featureBuilder, steps }).until('review').complete(done('review'));
  expect(straight.last).toMatchObject({ requests: [], ended: { result: 'failed', code: 'STEP_NOT_POSSIBLE' } });
});

test.each([
  ['a merge that was parked', { kind: 'parked', candidate: change('e', 'f'), reason: 'It differs.' }],
  ['a build that was begun after it', failed],
] as const)('an approval does not outlast %s, whatever a slip says', (_, outcome) => {
  const leading = (id: string, on: Readonly<Record<string, string>>) => {
    const found = featureBuilder.steps[step(id)]!;
    return { [id]: { ...found, on: { ...found.on, ...on } } };
  };
  const steps = {
    ...featureBuilder.steps,
    ...leading('land', { failed: 'build', parked: 'land' }),
    ...leading('build', { failed: 'land' }),
  };
  const driven = new DrivenRun({ ...featureBuilder, steps }).until('land').complete(outcome);
  if (driven.at === 'build') driven.complete(failed);
  expect(driven.last).toMatchObject({ requests: [], ended: { result: 'failed', code: 'STEP_NOT_POSSIBLE' } });
});
