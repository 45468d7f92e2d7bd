import { z } from 'zod';
import { CommitId, TreeId } from './ids.ts';

export const ChangedFile = z.object({
  path: z.string().describe('As git prints it with -z: bytes outside UTF-8 are replaced.'),
  status: z.enum(['added', 'modified', 'deleted', 'type_changed']),
  additions: z.int().nonnegative().nullable().describe('Null for a binary file.'),
  deletions: z.int().nonnegative().nullable(),
});
export type ChangedFile = z.infer<typeof ChangedFile>;

/** A commit on a base, with its tree, carried as a git bundle in the `changes` bucket. */
export const Change = z.object({
  commit: CommitId,
  tree: TreeId,
  base: CommitId.describe('Parent of the commit.'),
  bundle: z.string().describe('Name of the bundle in the `changes` bucket.'),
  diffIdentity: z
    .string()
    .describe('Stable hash of the diff from base to commit; equal for the same change on a moved base.'),
  files: z.array(ChangedFile),
});
export type Change = z.infer<typeof Change>;

/** Named checks passed on a named tree in a named image. `checks` is empty only where the project says it has none. */
export const Evidence = z.object({ tree: TreeId, image: z.string(), checks: z.array(z.string()) });
export type Evidence = z.infer<typeof Evidence>;

export const Finding = z.object({
  severity: z.enum(['critical', 'warning', 'suggestion']),
  path: z.string().optional(),
  line: z.int().positive().optional(),
  text: z.string().min(1).max(4000),
});
export type Finding = z.infer<typeof Finding>;
