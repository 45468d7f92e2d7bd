import { z } from 'zod';
import { Allowance, Spent } from '../allowance.ts';
import { Change } from '../change.ts';
import { decisions } from '../events/run-events.ts';
import { Mode } from '../grants.ts';
import { CommitId, GateId, Principal, ProjectName, RunId, StepId, TopologyId } from '../ids.ts';
import { Project } from '../project.ts';
import { gateStates } from './gate-view.ts';
import { RunResult, RunState } from './shapes.ts';

/**
 * Read-only views of Postgres that the router publishes and the gateway reads: a boundary like a message. Columns are
 * named as the fields below; objects are jsonb, times are timestamptz (read as ISO 8601 in UTC), the rest is text.
 */

const nullable = <Schema extends z.ZodType>(schema: Schema) => schema.nullable();

/** View `published.run`: one row a run. */
export const PublishedRun = z.object({
  run_id: RunId,
  project: ProjectName,
  goal: z.string(),
  topology: TopologyId,
  mode: Mode,
  principal: Principal,
  external_key: nullable(z.string()),
  retry_of: nullable(RunId),
  state: RunState,
  step_id: nullable(StepId),
  result: nullable(RunResult),
  commit: nullable(CommitId).describe('On the branch, where it landed.'),
  branch: nullable(z.string()),
  code: nullable(z.string()),
  message: nullable(z.string()),
  advice: nullable(z.string()),
  gate_id: nullable(GateId).describe('The open gate.'),
  budget: Allowance,
  spent: Spent,
  traceparent: nullable(z.string()),
  created_at: z.iso.datetime(),
  ended_at: nullable(z.iso.datetime()),
  archived_at: nullable(z.iso.datetime()).describe('Since then its log, gates and objects are in a file.'),
  archive: nullable(z.string()).describe('That file, below the archive directory of the router.'),
});
export type PublishedRun = z.infer<typeof PublishedRun>;

/** View `published.gate`: one row a gate. */
export const PublishedGate = z.object({
  gate_id: GateId,
  run_id: RunId,
  project: ProjectName,
  goal: z.string(),
  question: z.string(),
  state: z.enum(gateStates),
  change: Change,
  opened_at: z.iso.datetime(),
  decided_at: nullable(z.iso.datetime()),
  decision: nullable(z.enum(decisions)),
  decided_by: nullable(Principal),
  comment: nullable(z.string()),
});
export type PublishedGate = z.infer<typeof PublishedGate>;

/** View `published.project`: one row a project. */
export const PublishedProject = z.object({ name: ProjectName, definition: Project, created_at: z.iso.datetime() });
export type PublishedProject = z.infer<typeof PublishedProject>;
