import { z } from 'zod';
import { Change, Evidence, Finding } from './change.ts';
import { CommitId, TreeId } from './ids.ts';

/** What a step that went well hands on, by its verb. */
export const StepResult = z.discriminatedUnion('verb', [
  z.object({
    verb: z.literal('open'),
    repository: z.string().describe('Canonical identity of the remote: one per repository, whatever its spelling.'),
    branch: z.string().describe('Branch that receives the change.'),
    base: CommitId.describe('Head of the branch: where the work starts.'),
    tree: TreeId.describe('Tree of the base.'),
    bundle: z.string().describe("Name of the base commit's bundle in the `changes` bucket."),
  }),
  z.object({
    verb: z.literal('setup'),
    key: z.string().nullable().describe('Key of the installed dependencies; null where the project needs none.'),
    reused: z.boolean().describe('True where they were installed before.'),
  }),
  z.object({ verb: z.literal('plan'), plan: z.string().describe('The plan, in words.') }),
  z.object({
    verb: z.literal('build'),
    change: Change.describe('What was built.'),
    summary: z.string().describe('What the agent says it did.'),
  }),
  z.object({
    verb: z.literal('review'),
    evidence: Evidence.describe('The checks that passed on the tree of the change.'),
    summary: z.string().describe("The reviewer's judgement, in words."),
    findings: z.array(Finding).describe('Findings that do not stand in the way.'),
  }),
  z.object({
    verb: z.literal('verify'),
    evidence: Evidence.describe('The checks that passed on the tree that would land.'),
  }),
  z.object({
    verb: z.literal('land'),
    commit: CommitId.describe('What the branch points at now.'),
    tree: TreeId.describe('Tree of that commit.'),
    branch: z.string().describe('Branch that it landed on.'),
  }),
  z.object({
    verb: z.literal('remember'),
    summary: z.string().describe('Account of the run, in words.'),
    memories: z.int().nonnegative().describe('How many memories were proposed.'),
  }),
]);
export type StepResult = z.infer<typeof StepResult>;

export const outcomeKinds = [
  'done',
  'no_changes',
  'changes_requested',
  'conflict',
  'unverified',
  'parked',
  'limit_reached',
  'cancelled',
  'failed',
] as const;
export type OutcomeKind = (typeof outcomeKinds)[number];

/** How a step ended. Only `done` and `no_changes` are success; a limit never is. */
export const Outcome = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('done'), result: StepResult.describe('What the step hands on, by its verb.') }),
  z.object({ kind: z.literal('no_changes'), reason: z.string().describe('Why nothing is to be changed.') }),
  z.object({
    kind: z.literal('changes_requested'),
    findings: z.array(Finding).min(1).describe('What is to be put right.'),
    summary: z.string().describe('The judgement, in words.'),
  }),
  z.object({
    kind: z.literal('conflict'),
    head: CommitId.describe('Head of the branch that the change does not merge with.'),
    headBundle: z.string().describe('Name of its bundle in the `changes` bucket.'),
    paths: z.array(z.string()).describe('Files that are in conflict.'),
  }),
  z.object({ kind: z.literal('unverified'), candidate: Change.describe('The merge that nothing was checked on yet.') }),
  z.object({
    kind: z.literal('parked'),
    candidate: Change.describe('The merge that a person is asked about again.'),
    reason: z.string().describe('Why the approval does not cover it.'),
  }),
  z.object({
    kind: z.literal('limit_reached'),
    limit: z.string().describe('Which limit: one of the allowance, or the deadline.'),
  }),
  z.object({ kind: z.literal('cancelled') }),
  z.object({
    kind: z.literal('failed'),
    code: z.string().describe('Code of the error catalogue.'),
    message: z.string().describe('What happened.'),
    advice: z.string().describe('What to do next.'),
  }),
]);
export type Outcome = z.infer<typeof Outcome>;
