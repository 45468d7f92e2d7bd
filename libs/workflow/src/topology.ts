import { Grants, Mode } from '@flotilla/contracts/grants';
import { StepId, TopologyId } from '@flotilla/contracts/ids';
import { outcomeKinds } from '@flotilla/contracts/outcome';
import { runResults } from '@flotilla/contracts/events/run-events';
import { z } from 'zod';
import { agentVerbs } from './outcomes-of-verb.ts';

/** The target that ends a run. No step can be called so. */
export const END = 'end';

const count = z.int().positive().max(1_000_000_000);
const edges = z.partialRecord(z.enum(outcomeKinds), z.union([z.literal(END), StepId]));

/** What a run may spend at most, over all its steps. */
const RunLimits = z.strictObject({
  steps: count.max(200).describe('Steps and gates taken, every visit counted.'),
  minutes: count.describe('From intake to end; waiting for people and for a turn is not counted.'),
  turns: count,
  calls: count,
  tokens: count,
  microdollars: count,
});

/** What one visit of a step may spend at most; what is absent is bounded by the run alone. */
const AgentLimits = z.strictObject({
  visits: count.max(100).optional(),
  minutes: count.optional(),
  turns: count.optional(),
  calls: count.optional(),
  tokens: count.optional(),
  microdollars: count.optional(),
});

export type AgentLimits = z.infer<typeof AgentLimits>;

const AgentStep = z.strictObject({
  does: z.enum(agentVerbs).exclude(['build']),
  grants: Grants.default({}),
  limits: AgentLimits.default({}),
  on: edges,
});

const BuildStep = z.strictObject({
  does: z.literal('build'),
  grants: Grants.default({}),
  limits: AgentLimits.default({}),
  verification: z
    .enum(['off', 'auto', 'required'])
    .or(z.literal(false).transform(() => 'off' as const))
    .default('auto')
    .describe('Whether a finish wants passed tests: `auto` where tests are detected; false is `off`.'),
  on: edges,
});

const PlainStep = z.strictObject({
  does: z.enum(['open', 'setup', 'verify', 'land']),
  limits: z.strictObject({ visits: count.max(100).optional() }).default({}),
  on: edges,
});

export const WorkStep = z.discriminatedUnion('does', [AgentStep, BuildStep, PlainStep]);
export type WorkStep = z.infer<typeof WorkStep>;

export const GateStep = z.strictObject({ gate: z.literal('human'), question: z.string().min(1).max(500), on: edges });
export type GateStep = z.infer<typeof GateStep>;

/** A run told in steps and their outcomes, and how it ends. Checked whenever the document is loaded. */
const Example = z.strictObject({
  name: z.string().min(1),
  path: z
    .array(
      z
        .record(StepId, z.enum([...outcomeKinds, 'declined']))
        .refine((visit) => Object.keys(visit).length === 1, 'one step and its outcome, for example "build: done"'),
    )
    .min(1),
  ends: z.enum(runResults),
});
export type Example = z.infer<typeof Example>;

/** The document without its steps, which are read one by one so that an error names the step. */
export const TopologyHead = z.strictObject({
  id: TopologyId,
  summary: z.string().min(1).max(500),
  mode: Mode.optional().describe('May only tighten what the task may do.'),
  limits: RunLimits,
  steps: z.record(
    StepId.refine((id) => id !== END, '"end" is not a step'),
    z.looseObject({}),
  ),
  examples: z.array(Example).min(1),
});

export interface Topology extends Omit<z.infer<typeof TopologyHead>, 'steps'> {
  readonly steps: ReadonlyMap<StepId, WorkStep | GateStep>;
  /** What is allowed and hardly meant; whoever loads the document is told. */
  readonly warnings: readonly TopologyWarning[];
}

export interface TopologyWarning {
  /** Where in the document, for example `steps.build.grants.fs.wirte`. */
  readonly path: string;
  readonly reason: string;
}
