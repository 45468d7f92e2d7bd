import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { nothingSpent, type Spent } from '@flotilla/contracts/allowance';
import type { Change, Evidence } from '@flotilla/contracts/change';
import { CommitId, GateId, Principal, ProjectName, RunId, StepId, TreeId } from '@flotilla/contracts/ids';
import type { Outcome } from '@flotilla/contracts/outcome';
import { Project } from '@flotilla/contracts/project';
import type { Verb } from '@flotilla/contracts/verbs';
import { compileTopology } from '@flotilla/workflow/compile-topology';
import type { Slip } from '@flotilla/workflow/slip';
import { acceptTask } from './accept-task.ts';
import { advanceRun } from './advance-run.ts';
import type { Advance, RunEvent, Turn } from './decision.ts';
import type { RunState } from './run-state.ts';

const { resolve } = createRequire(import.meta.url);
const slipOf = (name: string) =>
  compileTopology(readFileSync(resolve(`@flotilla/workflow/topologies/${name}.yaml`), 'utf8'));
export const featureBuilder = slipOf('feature_builder');
export const quickFix = slipOf('quick_fix');

export const runId = RunId.parse('run_01j9z3k8m2n4p6q8r0s2t4v6w8');
export const ann = Principal.parse('ann');
export const began = new Date('2030-01-01T00:00:00.000Z');
export const after = (seconds: number) => new Date(began.getTime() + seconds * 1000);
export const step = (id: string) => StepId.parse(id);
export const gateNumber = (number: number) => GateId.parse(`gate_${String(number).padStart(26, '0')}`);
export const commit = (digit: string) => CommitId.parse(digit.repeat(40));
export const tree = (digit: string) => TreeId.parse(digit.repeat(40));

export function change(digit: string, base = 'a'): Change {
  return {
    commit: commit(digit),
    tree: tree(digit),
    base: commit(base),
    bundle: `bundle/${digit}`,
    diffIdentity: digit,
    files: [],
  };
}
export const evidence = (digit: string): Evidence => ({ tree: tree(digit), image: 'image', checks: ['npm test'] });
export const spentTokens = (tokens: number, microdollars: number | null = 0): Spent => ({
  ...nothingSpent,
  turns: 1,
  tokens,
  microdollars,
  seconds: 1,
});

/** How a step of each verb goes well; changes are told apart by a digit. */
export function done(verb: Verb, digit = 'c'): Outcome {
  switch (verb) {
    case 'open':
      return {
        kind: 'done',
        result: {
          verb,
          repository: 'example.com/a',
          branch: 'main',
          base: commit('a'),
          tree: tree('a'),
          bundle: 'base/a',
        },
      };
    case 'setup':
      return { kind: 'done', result: { verb, key: 'deps', reused: false } };
    case 'plan':
      return { kind: 'done', result: { verb, plan: 'Keep digits.' } };
    case 'build':
      return { kind: 'done', result: { verb, change: change(digit), summary: 'Kept.' } };
    case 'review':
      return { kind: 'done', result: { verb, evidence: evidence(digit), summary: 'Fine.', findings: [] } };
    case 'verify':
      return { kind: 'done', result: { verb, evidence: evidence(digit) } };
    case 'land':
      return { kind: 'done', result: { verb, commit: commit(digit), tree: tree(digit), branch: 'main' } };
    case 'remember':
      return { kind: 'done', result: { verb, summary: 'Landed.', memories: 1 } };
  }
}

export const unwanted: Outcome = {
  kind: 'changes_requested',
  findings: [{ severity: 'critical', text: 'No.' }],
  summary: 'Not yet.',
};
export const conflict: Outcome = { kind: 'conflict', head: commit('f'), headBundle: 'base/f', paths: ['a.js'] };
export const failed: Outcome = { kind: 'failed', code: 'BROKEN', message: 'It broke', advice: 'Mend it.' };

const project = Project.parse({ name: ProjectName.parse('slugify'), remote: '/srv/git/a.git' });

export function accepted(slip: Slip = featureBuilder, setup?: boolean) {
  const task = {
    goal: 'Keep digits.',
    project: project.name,
    externalKey: 'ticket-1',
    ...(setup === undefined ? {} : { setup }),
  };
  return acceptTask({ task, project, slip, runId, principal: ann, through: 'queue', sessionMode: 'auto', now: began });
}

/** A run driven by hand: each call is an event, `last` what it led to. */
export class DrivenRun {
  run: RunState;
  readonly all: Advance[] = [];
  readonly slip: Slip;
  now = began;
  turn: Turn = { kind: 'free' };

  constructor(slip: Slip = featureBuilder, setup?: boolean) {
    this.slip = slip;
    const { run, entry } = accepted(slip, setup);
    this.run = run;
    this.send({ kind: 'accepted', entry });
  }

  get last(): Advance {
    const last = this.all.at(-1);
    if (last === undefined) throw new Error('nothing happened yet');
    return last;
  }

  get entries() {
    return this.all.flatMap(({ entries }) => entries);
  }

  get at(): string {
    const { position } = this.run;
    return position?.kind === 'ended'
      ? position.result
      : position?.kind === 'step'
        ? position.stepId
        : `${position?.kind} ${position?.stepId}`;
  }

  decide(event: RunEvent) {
    return advanceRun({
      run: this.run,
      slip: this.slip,
      event,
      turn: this.turn,
      now: this.now,
      gateId: gateNumber(this.all.length),
    });
  }

  send(event: RunEvent): this {
    const decision = this.decide(event);
    if (decision.kind === 'ignored') throw new Error(`ignored: ${decision.reason}`);
    this.all.push(decision);
    this.run = decision.run;
    return this;
  }

  completion(outcome: Outcome, spent: Spent = spentTokens(10)): RunEvent {
    const { position } = this.run;
    if (position?.kind !== 'step') throw new Error(`the run is at ${this.at}`);
    return {
      kind: 'stepCompleted',
      completion: { runId, stepId: position.stepId, attempt: position.attempt, outcome, spent },
    };
  }

  complete(outcome: Outcome, spent?: Spent): this {
    return this.send(this.completion(outcome, spent));
  }

  /** Lets steps go well until the run is at `stepId`. */
  until(stepId: string, digit = 'c'): this {
    for (let left = 12; left > 0 && this.at !== stepId; left -= 1) {
      const { position } = this.run;
      if (position?.kind === 'gate') this.gate('approve');
      else if (position?.kind === 'step') {
        const at = this.slip.steps[position.stepId];
        if (at?.kind === 'work') this.complete(done(at.does, digit));
      }
    }
    if (this.at !== stepId) throw new Error(`the run is at ${this.at}, not at ${stepId}`);
    return this;
  }

  gate(decision: 'approve' | 'request_changes' | 'decline', comment?: string): this {
    const { position } = this.run;
    if (position?.kind !== 'gate') throw new Error(`the run is at ${this.at}`);
    return this.send({
      kind: 'gateDecided',
      gateId: position.gateId,
      decision,
      by: ann,
      commit: position.change.commit,
      ...(comment === undefined ? {} : { comment }),
    });
  }
}
