import { z } from 'zod';
import { CommitId, GateId, Principal, ProjectName, RunId, StepId, TopologyId } from '../ids.ts';
import { Failure, Mode, RunResult, RunState, Spending } from './shapes.ts';

export const Archive = z
  .object({
    file: z.string().meta({ field: 1, description: 'The file, below the archive directory of the router.' }),
    at: z.iso.datetime().meta({ field: 2, description: 'When it was archived.' }),
  })
  .meta({ id: 'Archive' });

/** A run as lists show it. */
export const RunSummary = z
  .object({
    runId: RunId.meta({ field: 1 }),
    project: ProjectName.meta({ field: 2 }),
    goal: z.string().meta({ field: 3, description: 'What is wanted, in words; the beginning of it once archived.' }),
    topology: TopologyId.meta({ field: 4 }),
    mode: Mode.meta({ field: 5 }),
    principal: Principal.meta({ field: 6, description: 'Who asked for it.' }),
    state: RunState.meta({ field: 7, description: 'How far it is.' }),
    stepId: StepId.optional().meta({ field: 8, description: 'The step it is at; absent once ended.' }),
    result: RunResult.optional().meta({ field: 9, description: 'Set once it ended.' }),
    commit: CommitId.optional().meta({ field: 10, description: 'The commit on the branch, where it landed.' }),
    gateId: GateId.optional().meta({ field: 11, description: 'The gate that waits for a person.' }),
    failure: Failure.optional().meta({
      field: 12,
      description: 'Why it ended without landing, where there is a reason.',
    }),
    spent: Spending.meta({ field: 13, description: 'What its steps spent together so far.' }),
    createdAt: z.iso.datetime().meta({ field: 14, description: 'When the task became a run.' }),
    endedAt: z.iso.datetime().optional().meta({ field: 15, description: 'When it ended; absent before.' }),
    archive: Archive.optional().meta({ field: 16, description: 'Set once it was archived: where the rest of it is.' }),
  })
  .meta({ id: 'RunSummary' });
export type RunSummary = z.infer<typeof RunSummary>;

export const exampleRun: z.input<typeof RunSummary> = {
  runId: 'run_01j9z3k8m2n4p6q8r0s2t4v6w8',
  project: 'slugify',
  goal: 'Make slugify keep digits.',
  topology: 'feature_builder',
  mode: 'auto',
  principal: 'local',
  state: 'ended',
  result: 'landed',
  commit: 'c'.repeat(40),
  spent: { turns: 9, calls: 14, tokens: 20_000, microdollars: null, milliseconds: 31_000 },
  createdAt: '2030-01-01T00:00:00.000Z',
  endedAt: '2030-01-01T00:01:10.000Z',
};
