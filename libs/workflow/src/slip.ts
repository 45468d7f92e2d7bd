import { Allowance } from '@flotilla/contracts/allowance';
import { Grants, Mode } from '@flotilla/contracts/grants';
import { StepId, TopologyId } from '@flotilla/contracts/ids';
import { outcomeKinds } from '@flotilla/contracts/outcome';
import { Verb } from '@flotilla/contracts/verbs';
import { z } from 'zod';

const edges = z.partialRecord(z.enum(outcomeKinds), z.string());

export const SlipWork = z.object({
  kind: z.literal('work'),
  does: Verb,
  /** Visits of this step that a run may make. */
  visits: z.int().positive(),
  grants: Grants,
  /** What one visit may spend; null for a verb without a model. */
  allowance: Allowance.nullable(),
  verification: z.enum(['off', 'auto', 'required']),
  on: edges,
});
export type SlipWork = z.infer<typeof SlipWork>;

export const SlipGate = z.object({ kind: z.literal('gate'), question: z.string(), on: edges });
export type SlipGate = z.infer<typeof SlipGate>;

/** The routing slip of a run: plain data, frozen into the run when it starts. */
export const Slip = z.object({
  topology: TopologyId,
  mode: Mode.nullable().describe('The freest mode this topology works in; null: whatever the task may.'),
  start: StepId,
  steps: z.record(StepId, z.discriminatedUnion('kind', [SlipWork, SlipGate])),
  /** Visits of steps and gates together. */
  maxSteps: z.int().positive(),
  budget: Allowance,
});
export type Slip = z.infer<typeof Slip>;
export type SlipStep = Slip['steps'][StepId];
