import { z } from 'zod';
import { defineCall } from '../define-call.ts';
import { CommitId, GateId, Principal, RunId, StepId } from '../ids.ts';
import { GateDecision } from './gate-view.ts';
import { exampleRun, RunSummary } from './run-view.ts';
import {
  Budget,
  exampleProposal,
  exampleSpending,
  Failure,
  OutcomeKind,
  ProposedChange,
  Spending,
  Verb,
} from './shapes.ts';

/** One attempt of one step. */
export const TimelineStep = z
  .object({
    stepId: StepId.meta({ field: 1 }),
    attempt: z.int().positive().meta({ field: 2, description: '1 for the first visit.' }),
    verb: Verb.meta({ field: 3, description: 'What the step does.' }),
    service: z.string().optional().meta({ field: 4, description: 'Who took it; absent while nobody has.' }),
    outcome: OutcomeKind.optional().meta({ field: 5, description: 'Absent while it is under way.' }),
    failure: Failure.optional().meta({ field: 6, description: 'Why it did not go well.' }),
    requestedAt: z.iso.datetime().meta({ field: 7, description: 'When it was asked for.' }),
    startedAt: z.iso.datetime().optional().meta({ field: 8, description: 'When its first delivery began.' }),
    completedAt: z.iso.datetime().optional().meta({ field: 9, description: 'When its outcome was taken.' }),
    spent: Spending.optional().meta({ field: 10, description: 'What the attempt spent, once it is over.' }),
  })
  .meta({ id: 'TimelineStep' });
export type TimelineStep = z.infer<typeof TimelineStep>;

const OpenGate = z
  .object({
    gateId: GateId.meta({ field: 1 }),
    question: z.string().meta({ field: 2, description: 'What the person is asked.' }),
    change: ProposedChange.meta({ field: 3, description: 'What the decision is about.' }),
  })
  .meta({ id: 'OpenGate' });

/** What a person said at a gate of the run. */
export const RunDecision = z
  .object({
    gateId: GateId.meta({ field: 1 }),
    decision: GateDecision.meta({ field: 2, description: 'What was decided.' }),
    by: Principal.meta({ field: 3, description: 'Principal who decided.' }),
    commit: CommitId.meta({ field: 4, description: 'The commit that was decided on.' }),
    at: z.iso.datetime().meta({ field: 5, description: 'When it was decided.' }),
    comment: z.string().optional().meta({ field: 6, description: "The person's words." }),
  })
  .meta({ id: 'RunDecision' });
export type RunDecision = z.infer<typeof RunDecision>;

export const ShowRun = defineCall({
  name: 'showRun',
  kind: 'query',
  servedBy: 'gateway',
  roles: ['read'],
  summary:
    'Shows one run: state, result, budget, what it spent, its steps with durations, what was decided at its gates, and the gate that is open.',
  http: { method: 'GET', path: '/v1/runs/{runId}' },
  request: z.strictObject({ runId: RunId.meta({ field: 1 }) }),
  response: z.object({
    run: RunSummary.meta({ field: 1, description: 'Where the run is.' }),
    budget: Budget.meta({ field: 2, description: 'What all its steps may spend together.' }),
    timeline: z.array(TimelineStep).meta({ field: 3, description: 'In the order the steps were asked for.' }),
    gate: OpenGate.optional().meta({ field: 4, description: 'The gate that waits for a person, where one does.' }),
    branch: z.string().optional().meta({ field: 5, description: 'Branch that receives the change, once known.' }),
    traceId: z.string().optional().meta({ field: 6, description: 'Id of the one trace of this run.' }),
    retryOf: RunId.optional().meta({ field: 7, description: 'The run that this one does again.' }),
    externalKey: z.string().optional().meta({ field: 8, description: "The asker's own key for the task." }),
    decisions: z
      .array(RunDecision)
      .default([])
      .meta({ field: 9, description: 'What people decided at its gates, in that order; none of an archived run.' }),
  }),
  errors: ['RUN_UNKNOWN'],
  cli: { verb: 'show' },
  example: {
    request: { runId: 'run_01j9z3k8m2n4p6q8r0s2t4v6w8' },
    response: {
      run: { ...exampleRun, state: 'at_gate', gateId: 'gate_01j9z3k8m2n4p6q8r0s2t4v6w8' },
      budget: { turns: 80, calls: 240, tokens: 800_000, microdollars: 5_000_000, seconds: 3600 },
      timeline: [
        {
          stepId: 'build',
          attempt: 1,
          verb: 'build',
          service: 'executor',
          outcome: 'done',
          requestedAt: '2030-01-01T00:00:02.000Z',
          startedAt: '2030-01-01T00:00:02.010Z',
          completedAt: '2030-01-01T00:00:31.000Z',
          spent: exampleSpending,
        },
      ],
      gate: {
        gateId: 'gate_01j9z3k8m2n4p6q8r0s2t4v6w8',
        question: 'Land this change on main?',
        change: exampleProposal,
      },
      branch: 'main',
      traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
      decisions: [
        {
          gateId: 'gate_01j9z3k8m2n4p6q8r0s2t4v6w7',
          decision: 'request_changes',
          by: 'anna',
          commit: 'c'.repeat(40),
          at: '2030-01-01T00:00:20.000Z',
          comment: 'Keep the old name as an alias.',
        },
      ],
    },
  },
});
