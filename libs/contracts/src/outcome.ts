import { z } from 'zod';
import { Change, Evidence, Finding } from './change.ts';
import { CommitId, TreeId } from './ids.ts';

/** What a step that went well hands on, by its verb. */
export const StepResult = z.discriminatedUnion('verb', [
  z.object({
    verb: z.literal('open'),
    repository: z.string().describe('Canonical identity of the remote: one per repository, whatever its spelling.'),
    branch: z.string(),
    base: CommitId,
    tree: TreeId,
    bundle: z.string().describe("Name of the base commit's bundle in the `changes` bucket."),
  }),
  z.object({
    verb: z.literal('setup'),
    key: z.string().nullable().describe('Null when the project needs none.'),
    reused: z.boolean(),
  }),
  z.object({ verb: z.literal('plan'), plan: z.string() }),
  z.object({ verb: z.literal('build'), change: Change, summary: z.string() }),
  z.object({ verb: z.literal('review'), evidence: Evidence, summary: z.string(), findings: z.array(Finding) }),
  z.object({ verb: z.literal('verify'), evidence: Evidence }),
  z.object({ verb: z.literal('land'), commit: CommitId, tree: TreeId, branch: z.string() }),
  z.object({ verb: z.literal('remember'), summary: z.string(), memories: z.int().nonnegative() }),
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
  z.object({ kind: z.literal('done'), result: StepResult }),
  z.object({ kind: z.literal('no_changes'), reason: z.string() }),
  z.object({ kind: z.literal('changes_requested'), findings: z.array(Finding).min(1), summary: z.string() }),
  z.object({ kind: z.literal('conflict'), head: CommitId, headBundle: z.string(), paths: z.array(z.string()) }),
  z.object({ kind: z.literal('unverified'), candidate: Change }),
  z.object({ kind: z.literal('parked'), candidate: Change, reason: z.string() }),
  z.object({ kind: z.literal('limit_reached'), limit: z.string() }),
  z.object({ kind: z.literal('cancelled') }),
  z.object({ kind: z.literal('failed'), code: z.string(), message: z.string(), advice: z.string() }),
]);
export type Outcome = z.infer<typeof Outcome>;
