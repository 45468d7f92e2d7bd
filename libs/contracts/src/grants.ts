import { z } from 'zod';

/**
 * A capability given to a step: `true` grants it, `false` withholds it, `ask` wants a person's yes for each call, and a
 * mapping grants it within limits. A capability nobody lists is refused.
 */
export const Grant = z.union([
  z.boolean(),
  z.literal('ask'),
  z.strictObject({
    /** Globs of workspace paths the capability reaches; absent means every path. */
    paths: z.array(z.string().min(1).max(256)).min(1).optional(),
    /** Globs taken out again; they win over `paths`. */
    exclude: z.array(z.string().min(1).max(256)).min(1).optional(),
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
export const Mode = z.enum(['normal', 'auto', 'plan']);
export type Mode = z.infer<typeof Mode>;
