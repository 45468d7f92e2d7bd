import { z } from 'zod';

/** `run_` and a ULID in lower case: sorts by time of intake. */
export const RunId = z
  .string()
  .regex(/^run_[0-9a-z]{26}$/, 'a run id looks like run_01j9z3k8m2n4p6q8r0s2t4v6w8')
  .brand<'RunId'>()
  .describe('Names the run.');
export type RunId = z.infer<typeof RunId>;

/** A step's name on its slip, for example `build`. */
export const StepId = z
  .string()
  .regex(/^[a-z][a-z0-9_]{0,40}$/, 'a step id is lower snake case, at most 41 characters')
  .brand<'StepId'>()
  .describe('The step, by its name on the slip.');
export type StepId = z.infer<typeof StepId>;

/** `gate_` and a ULID in lower case. */
export const GateId = z
  .string()
  .regex(/^gate_[0-9a-z]{26}$/, 'a gate id looks like gate_01j9z3k8m2n4p6q8r0s2t4v6w8')
  .brand<'GateId'>()
  .describe('Names the gate.');
export type GateId = z.infer<typeof GateId>;

export const CommitId = z
  .string()
  .regex(/^[0-9a-f]{40}$/, 'a commit id has 40 hexadecimal digits')
  .brand<'CommitId'>()
  .describe('Id of the commit.');
export type CommitId = z.infer<typeof CommitId>;

export const TreeId = z
  .string()
  .regex(/^[0-9a-f]{40}$/, 'a tree id has 40 hexadecimal digits')
  .brand<'TreeId'>()
  .describe('Id of the tree of files, whatever commit holds it.');
export type TreeId = z.infer<typeof TreeId>;

export const ProjectName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'a project name has lower case letters, digits and hyphens, at most 63')
  .brand<'ProjectName'>()
  .describe('Name of the project.');
export type ProjectName = z.infer<typeof ProjectName>;

export const TopologyId = z
  .string()
  .regex(/^[a-z][a-z0-9_]{0,62}$/, 'a topology id is lower snake case')
  .brand<'TopologyId'>()
  .describe('The topology that the run follows.');
export type TopologyId = z.infer<typeof TopologyId>;

/** Who asks: the name behind a token, or the last token of the intake subject. */
export const Principal = z
  .string()
  .regex(/^[a-zA-Z0-9][a-zA-Z0-9_@.-]{0,62}$/, 'a principal has letters, digits and _ @ . -')
  .brand<'Principal'>()
  .describe('Who asked: the name behind a token or a user of the broker.');
export type Principal = z.infer<typeof Principal>;

/** W3C trace context as a message or a log row carries it. */
export const TraceContext = z.object({
  traceparent: z.string().describe('Trace and span, as W3C writes them.'),
  tracestate: z.string().optional().describe('What vendors of tracing added.'),
});
export type TraceContext = z.infer<typeof TraceContext>;
