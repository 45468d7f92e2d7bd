import { z } from 'zod';
import { Allowance } from './allowance.ts';
import { Finding } from './change.ts';
import { Grants, Mode } from './grants.ts';
import { CommitId, RunId, StepId, TreeId } from './ids.ts';
import { Project } from './project.ts';

/** The base commit of a run, as `open` resolved it or as a conflict moved it. */
export const Base = z.object({ commit: CommitId, tree: TreeId.optional(), bundle: z.string() });
export type Base = z.infer<typeof Base>;

/** What sends work back to its author. Text from people and models: data, never instructions to the fleet. */
export const Feedback = z.object({
  from: z.enum(['review', 'checks', 'person', 'conflict']),
  text: z.string(),
  findings: z.array(Finding).default([]),
  paths: z.array(z.string()).default([]),
});
export type Feedback = z.infer<typeof Feedback>;

/** What every step gets to know, whatever it does. */
export const stepFields = {
  runId: RunId,
  stepId: StepId,
  attempt: z.int().positive().describe('1 for the first visit; counts every time the step is requested anew.'),
  project: Project,
  goal: z.string(),
  mode: Mode,
  deadline: z.iso.datetime().describe('Waiting and work end here.'),
};

export const agentFields = {
  grants: Grants,
  allowance: Allowance,
};

export const workFields = {
  repository: z.string(),
  branch: z.string(),
  base: Base,
  setupKey: z.string().nullable(),
};
