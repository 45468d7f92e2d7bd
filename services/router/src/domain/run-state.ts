import { Spent } from '@flotilla/contracts/allowance';
import { Change, Evidence, Finding } from '@flotilla/contracts/change';
import { runResults } from '@flotilla/contracts/events/run-events';
import { Mode } from '@flotilla/contracts/grants';
import { CommitId, GateId, Principal, RunId, StepId, TreeId } from '@flotilla/contracts/ids';
import { Project } from '@flotilla/contracts/project';
import { Base, Feedback } from '@flotilla/contracts/step-request';
import { z } from 'zod';

/** Where a run is: exactly one of these, and `ended` for ever. */
const Position = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('step'),
    stepId: StepId,
    attempt: z.int().positive(),
    requestedAt: z.iso.datetime(),
  }),
  z.object({ kind: z.literal('gate'), stepId: StepId, gateId: GateId, change: Change, openedAt: z.iso.datetime() }),
  z.object({ kind: z.literal('turn'), stepId: StepId, since: z.iso.datetime() }),
  z.object({
    kind: z.literal('ended'),
    result: z.enum(runResults),
    at: z.iso.datetime(),
    /** Something was pushed, and nobody could ask the branch what came of it. */
    mayHaveLanded: z.literal(true).optional(),
  }),
]);
export type Position = z.infer<typeof Position>;

/** What the run learned from the steps so far; each request is made of it. */
export const Known = z.object({
  repository: z.string().optional(),
  branch: z.string().optional(),
  base: Base.optional(),
  setupKey: z.string().nullable(),
  plan: z.string().optional(),
  change: Change.optional().describe("The author's change so far."),
  feedback: z.array(Feedback).describe('What sends the change back; empty once it was built anew.'),
  candidate: Change.optional().describe('A merge of the approved change, not landed yet.'),
  parked: z.boolean().describe('True while the candidate is what a person must decide on.'),
  parkedReason: z.string().optional().describe('Why a person must decide on the candidate.'),
  evidence: z.array(Evidence),
  review: z.object({ summary: z.string(), findings: z.array(Finding) }).optional(),
  approval: z.object({ change: Change, by: Principal }).optional(),
  landed: z.object({ commit: CommitId, tree: TreeId, branch: z.string() }).optional(),
  noChanges: z.string().optional().describe('Why there is nothing to land.'),
});
export type Known = z.infer<typeof Known>;

/** All that the router keeps of a run besides its slip. Plain data, read back strictly. */
export const RunState = z.object({
  runId: RunId,
  goal: z.string(),
  project: Project,
  wantedBranch: z.string().optional(),
  setup: z.boolean(),
  mode: Mode,
  principal: Principal,
  externalKey: z.string().optional(),
  retryOf: RunId.optional(),
  acceptedAt: z.iso.datetime(),
  /** Moves on by the time the run waited for people and for its turn. */
  deadline: z.iso.datetime(),
  position: Position.optional().describe('Absent until the first step is asked for.'),
  /** Visits of each step, the present one too; the attempt of a step is its visits. */
  visits: z.record(StepId, z.int().nonnegative()),
  spent: Spent,
  cancel: z.object({ by: Principal, reason: z.string().optional() }).optional(),
  holdsTurn: z.boolean(),
  known: Known,
});
export type RunState = z.infer<typeof RunState>;

/** The lane of a repository's branch, which one run at a time may land on; undefined before it is opened. */
export function laneOf({ known }: Pick<RunState, 'known'>): string | undefined {
  if (known.repository === undefined || known.branch === undefined) return undefined;
  return `${known.repository} refs/heads/${known.branch}`;
}
