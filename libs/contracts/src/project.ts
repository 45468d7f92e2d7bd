import { z } from 'zod';
import { ProjectName, TopologyId } from './ids.ts';

/** A repository and how it is worked on. The credential is a name in the merger's credential directory, never a secret. */
export const Project = z.object({
  name: ProjectName,
  remote: z.string().min(1).max(2048).describe('URL or absolute path of the git remote.'),
  credential: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,62}$/)
    .optional()
    .describe("Name of a credential in the merger's credential directory."),
  branch: z
    .string()
    .min(1)
    .max(255)
    .optional()
    .describe("Branch that receives changes; default: the remote's default branch."),
  topology: TopologyId.default('feature_builder' as TopologyId).describe('The topology of tasks that name none.'),
  checks: z
    .array(z.string().min(1).max(4096))
    .max(16)
    .default([])
    .describe('Commands that must pass; empty: the detected test command.'),
  unchecked: z.boolean().default(false).describe('True where the owner accepts landing without any check.'),
  setup: z
    .array(z.string().min(1).max(4096))
    .max(16)
    .optional()
    .describe('Commands that install dependencies; absent: detected from lock files; empty: none.'),
});
export type Project = z.infer<typeof Project>;
