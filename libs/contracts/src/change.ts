import { z } from 'zod';
import { CommitId, TreeId } from './ids.ts';

export const ChangedFile = z.object({
  path: z.string().describe('As git prints it with -z: bytes outside UTF-8 are replaced.'),
  status: z
    .enum(['added', 'modified', 'deleted', 'type_changed'])
    .describe('What became of the file; type_changed: it became a symbolic link, or is one no longer.'),
  additions: z.int().nonnegative().nullable().describe('Lines added; null for a binary file.'),
  deletions: z.int().nonnegative().nullable().describe('Lines taken away; null for a binary file.'),
});
export type ChangedFile = z.infer<typeof ChangedFile>;

/** A commit on a base, with its tree, carried as a git bundle in the `changes` bucket. */
export const Change = z.object({
  commit: CommitId.describe('The change as a commit.'),
  tree: TreeId.describe('Tree of that commit.'),
  base: CommitId.describe('Parent of the commit.'),
  bundle: z.string().describe('Name of the bundle in the `changes` bucket.'),
  diffIdentity: z
    .string()
    .describe('Stable hash of the diff from base to commit; equal for the same change on a moved base.'),
  files: z.array(ChangedFile).describe('Files that differ from the base.'),
});
export type Change = z.infer<typeof Change>;

/** Named checks passed on a named tree in a named image. `checks` is empty only where the project says it has none. */
export const Evidence = z.object({
  tree: TreeId.describe('The tree that was checked.'),
  image: z.string().describe('Image of the sandbox that it was checked in.'),
  checks: z.array(z.string()).describe('Commands that passed.'),
});
export type Evidence = z.infer<typeof Evidence>;

export const Finding = z.object({
  severity: z.enum(['critical', 'warning', 'suggestion']).describe('critical: it must not land like this.'),
  path: z.string().optional().describe('File it is about; absent: the whole change.'),
  line: z.int().positive().optional().describe('Line of that file after the change.'),
  text: z.string().min(1).max(4000).describe('What is wrong, in words.'),
});
export type Finding = z.infer<typeof Finding>;
