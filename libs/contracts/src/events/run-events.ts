import { z } from 'zod';
import { Allowance, Spent } from '../allowance.ts';
import { Change } from '../change.ts';
import { defineEvent } from '../define-event.ts';
import { Mode } from '../grants.ts';
import { CommitId, GateId, Principal, ProjectName, StepId, TopologyId } from '../ids.ts';
import { Outcome } from '../outcome.ts';
import { Verb } from '../verbs.ts';
import { exampleChange } from '../messages/step-request.example.ts';

export const runResults = ['landed', 'no_changes', 'declined', 'limit_reached', 'cancelled', 'failed'] as const;
export const RunResult = z.enum(runResults);
export type RunResult = z.infer<typeof RunResult>;

export const TaskAccepted = defineEvent({
  type: 'task.accepted',
  scope: 'run',
  summary: 'A task became a run.',
  payload: z.object({
    goal: z.string().describe('What is wanted, in words.'),
    project: ProjectName,
    topology: TopologyId,
    mode: Mode,
    principal: Principal,
    through: z.enum(['queue', 'command', 'retry']).describe('The way the task came.'),
    externalKey: z.string().optional().describe("The asker's own key: the same one gives the same run."),
    retryOf: z.string().optional().describe('The run that this one does again.'),
    budget: Allowance.describe('What all steps of the run may spend together.'),
  }),
  example: {
    goal: 'Make slugify keep digits.',
    project: 'slugify',
    topology: 'feature_builder',
    mode: 'auto',
    principal: 'local',
    through: 'queue',
    budget: { turns: 80, calls: 240, tokens: 800_000, microdollars: 5_000_000, seconds: 3600 },
  },
});

export const StepRequestedEvent = defineEvent({
  type: 'step.requested',
  scope: 'run',
  summary: 'The router asked for a step.',
  payload: z.object({
    verb: Verb.describe('What the step does.'),
    allowance: Allowance.optional().describe('What it may spend; absent: it has no agent.'),
  }),
  example: { verb: 'build' },
});

export const StepCompletedEvent = defineEvent({
  type: 'step.completed',
  scope: 'run',
  summary: "The router took a step's outcome.",
  payload: z.object({
    outcome: Outcome.describe('How the step ended, by `kind`.'),
    spent: Spent.describe('What the attempt spent.'),
  }),
  example: {
    outcome: { kind: 'cancelled' },
    spent: { turns: 1, calls: 2, tokens: 300, microdollars: null, seconds: 2.5 },
  },
});

export const TurnAwaited = defineEvent({
  type: 'turn.awaited',
  scope: 'run',
  summary: 'An approved run waits for its turn on the branch.',
  payload: z.object({
    lane: z.string().describe('The repository and branch, for which runs take turns.'),
    behind: z.string().describe('The run whose turn it is.'),
  }),
  example: { lane: 'git.example.com/acme/slugify refs/heads/main', behind: 'run_01j9z3k8m2n4p6q8r0s2t4v6w8' },
});

export const GateOpened = defineEvent({
  type: 'gate.opened',
  scope: 'run',
  summary: 'A person is asked to decide on a commit.',
  payload: z.object({
    gateId: GateId,
    question: z.string().describe('What the person is asked.'),
    change: Change.describe('What the decision is about.'),
  }),
  example: { gateId: 'gate_01j9z3k8m2n4p6q8r0s2t4v6w8', question: 'Land this change on main?', change: exampleChange },
});

export const decisions = ['approve', 'request_changes', 'decline'] as const;

export const GateDecided = defineEvent({
  type: 'gate.decided',
  scope: 'run',
  summary: 'A person decided, once and for all, on the commit of the gate.',
  payload: z.object({
    gateId: GateId,
    decision: z.enum(decisions).describe('What was decided.'),
    by: Principal.describe('Principal who decided.'),
    commit: CommitId.describe('The commit that was decided on.'),
    comment: z.string().optional().describe("The person's words; to request changes they are what is asked for."),
  }),
  example: { gateId: 'gate_01j9z3k8m2n4p6q8r0s2t4v6w8', decision: 'approve', by: 'local', commit: 'c'.repeat(40) },
});

export const CancelRequested = defineEvent({
  type: 'run.cancel_requested',
  scope: 'run',
  summary: 'Somebody asked for the run to stop.',
  payload: z.object({
    by: Principal.describe('Principal who asked.'),
    reason: z.string().optional().describe('Why, in words.'),
  }),
  example: { by: 'local' },
});

export const RunEnded = defineEvent({
  type: 'run.ended',
  scope: 'run',
  summary: 'The run has its one end state.',
  payload: z.object({
    result: RunResult.describe('The end state.'),
    commit: CommitId.optional().describe('The commit on the branch, where something landed.'),
    stepId: StepId.optional().describe('The step that ended it.'),
    code: z.string().optional().describe('Code of the error, where one ended it.'),
    message: z.string().optional().describe('What happened, where it did not go well.'),
    advice: z.string().optional().describe('What to do next, where something is to be done.'),
    spent: Spent.describe('What all steps spent together.'),
  }),
  example: {
    result: 'landed',
    commit: 'c'.repeat(40),
    spent: { turns: 9, calls: 14, tokens: 20_000, microdollars: null, seconds: 31 },
  },
});

export const runEvents = [
  TaskAccepted,
  StepRequestedEvent,
  StepCompletedEvent,
  TurnAwaited,
  GateOpened,
  GateDecided,
  CancelRequested,
  RunEnded,
] as const;
