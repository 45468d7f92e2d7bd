import { z } from 'zod';
import { GateId, Principal, ProjectName, RunId } from '../ids.ts';
import { decisions } from '../events/run-events.ts';
import { exampleProposal, ProposedChange } from './shapes.ts';

/** `open`: waits for a person. `decided`: a person answered. `withdrawn`: it needs no answer any more. */
export const gateStates = ['open', 'decided', 'withdrawn'] as const;
export const GateState = z.enum(gateStates).meta({ id: 'GateState' });

export const GateDecision = z.enum(decisions).meta({ id: 'GateDecision' });
export type GateDecision = z.infer<typeof GateDecision>;

export const Gate = z
  .object({
    gateId: GateId.meta({ field: 1 }),
    runId: RunId.meta({ field: 2 }),
    project: ProjectName.meta({ field: 3 }),
    goal: z.string().meta({ field: 4, description: 'What is wanted, in words.' }),
    question: z.string().meta({ field: 5, description: 'What the person is asked.' }),
    state: GateState.meta({ field: 6, description: 'Whether it still waits.' }),
    change: ProposedChange.meta({ field: 7, description: 'What the decision is about.' }),
    openedAt: z.iso.datetime().meta({ field: 8, description: 'When the person was asked.' }),
    decidedAt: z.iso.datetime().optional().meta({ field: 9, description: 'When it was decided.' }),
    decision: GateDecision.optional().meta({ field: 10, description: 'What was decided.' }),
    by: Principal.optional().meta({ field: 11, description: 'Principal who decided.' }),
    comment: z.string().optional().meta({ field: 12, description: "The person's words." }),
  })
  .meta({ id: 'Gate' });
export type Gate = z.infer<typeof Gate>;

export const exampleGate: z.input<typeof Gate> = {
  gateId: 'gate_01j9z3k8m2n4p6q8r0s2t4v6w8',
  runId: 'run_01j9z3k8m2n4p6q8r0s2t4v6w8',
  project: 'slugify',
  goal: 'Make slugify keep digits.',
  question: 'Land this change on main?',
  state: 'open',
  change: exampleProposal,
  openedAt: '2030-01-01T00:00:50.000Z',
};
