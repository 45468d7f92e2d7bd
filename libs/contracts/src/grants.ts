import { z } from 'zod';

/**
 * A capability given to a step: `true` grants it, `false` withholds it, `ask` wants a person's yes for each call, and a
 * mapping grants it within limits. A capability nobody lists is refused.
 */
export const Grant = z.union([
  z.boolean(),
  z.literal('ask'),
  z.strictObject({
    paths: z
      .array(z.string().min(1).max(256))
      .min(1)
      .optional()
      .describe('Globs of workspace paths the capability reaches; absent: every path.'),
    exclude: z
      .array(z.string().min(1).max(256))
      .min(1)
      .optional()
      .describe('Globs taken out again; they win over `paths`.'),
  }),
]);
export type Grant = z.infer<typeof Grant>;

/** Capability id, for example `fs.write`, to its grant. */
export const Grants = z.record(
  z.string().regex(/^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+$/, 'a capability id looks like fs.write'),
  Grant,
);
export type Grants = z.infer<typeof Grants>;

/** How far a run may go unasked; `plan` reads only. */
export const Mode = z.enum(['normal', 'auto', 'plan']).describe('How far the run may go unasked; plan reads only.');
export type Mode = z.infer<typeof Mode>;
