import { z } from 'zod';

/** What a part of a shell command may do, from harmless to forbidden. */
export const CommandClass = z.enum([
  'READ_ONLY',
  'TEST',
  'BUILD',
  'MUTATING',
  'GIT_MUTATION',
  'NETWORK',
  'REMOTE_MUTATION',
  'DESTRUCTIVE',
  'PRIVILEGED',
]);

const globs = z.array(z.string().min(1).max(256)).min(1);

/** A grant within limits. Each limit only takes away; what is absent limits nothing. */
export const GrantLimits = z.strictObject({
  paths: globs.optional().describe('Globs of workspace paths the capability reaches; absent: every path.'),
  exclude: globs.optional().describe('Globs taken out again; they win over `paths`.'),
  network: z
    .boolean()
    .optional()
    .describe('False refuses what needs the network; true gives none to a step that has none.'),
  classes: z
    .array(CommandClass)
    .min(1)
    .optional()
    .describe('Classes of commands it may run; every part of a command must be of one of them.'),
  max_depth: z
    .int()
    .positive()
    .max(100)
    .optional()
    .describe("Levels of agents that may use it; 1: the step's own agent alone."),
  ask: z.boolean().optional().describe("True wants a person's yes for each call."),
});
export type GrantLimits = z.infer<typeof GrantLimits>;

/**
 * A capability given to a step: `true` grants it, `false` withholds it, `ask` wants a person's yes for each call, and a
 * mapping grants it within limits. A capability nobody lists is refused.
 */
export const Grant = z.union([z.boolean(), z.literal('ask'), GrantLimits]);
export type Grant = z.infer<typeof Grant>;

/** Capability id, for example `fs.write`, to its grant. */
export const Grants = z.record(
  z.string().regex(/^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+$/, 'a capability id looks like fs.write'),
  Grant,
);
export type Grants = z.infer<typeof Grants>;

/** How far a run may go unasked; `plan` reads only. */
export const Mode = z
  .enum(['normal', 'auto', 'plan'])
  .describe(
    'How far the run may go unasked: auto asks least, normal asks before it changes something, plan reads only.',
  );
export type Mode = z.infer<typeof Mode>;
