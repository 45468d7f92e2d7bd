import { Allowance } from '@flotilla/contracts/allowance';
import type { Grants } from '@flotilla/contracts/grants';
import type { StepId } from '@flotilla/contracts/ids';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { readGrants } from '@flotilla/policy/read-grants';
import type { z } from 'zod';
import { checkExamples } from './check-examples.ts';
import { checkFlow } from './check-flow.ts';
import { outcomesOfGate, outcomesOfVerb, troublesOfAnyVerb } from './outcomes-of-verb.ts';
import { readDocument } from './read-document.ts';
import { Slip, type SlipStep } from './slip.ts';
import {
  END,
  GateStep,
  type AgentLimits,
  TopologyHead,
  WorkStep,
  type Topology,
  type TopologyWarning,
} from './topology.ts';

/** Visits of one step where the document does not say. */
const DEFAULT_VISITS = 3;

/**
 * Turns a topology document into a routing slip. Throws `topologyInvalid` with the path of what is wrong: an unknown key,
 * a grant that is none, an edge that leads nowhere or is missing, a step without what it needs, landing without a human gate, an
 * example that does not come true.
 */
export function compileTopology(text: string): Slip {
  const topology = readTopology(text);
  const fail = (path: string, reason: string) =>
    new FlotillaError(errors.topologyInvalid, { topology: topology.id, path, reason });
  for (const [stepId, step] of topology.steps) {
    const problem = checkEdges(topology, step);
    if (problem !== undefined) throw fail(`steps.${stepId}.on${problem.path}`, problem.reason);
  }
  const steps = new Map([...topology.steps].map(([stepId, step]) => [stepId, compileStep(topology, step)] as const));
  const [start] = steps.keys();
  if (start === undefined) throw fail('steps', 'there is none');
  const flow = checkFlow(start, steps);
  if (flow !== undefined) throw fail(`steps.${flow.stepId}`, flow.reason);
  const slip = Slip.parse({
    topology: topology.id,
    mode: topology.mode ?? null,
    start,
    steps: Object.fromEntries(steps),
    maxSteps: topology.limits.steps,
    budget: budgetOf(topology),
  } satisfies z.input<typeof Slip>);
  const example = checkExamples(slip, topology.examples);
  if (example !== undefined) throw fail(example.path, example.reason);
  return slip;
}

/** Reads a document with its shape checked and nothing else. */
export function readTopology(text: string): Topology {
  const head = parse(TopologyHead, readDocument(text), '(unread)', []);
  const steps = new Map<StepId, WorkStep | GateStep>();
  const warnings: TopologyWarning[] = [];
  for (const [id, raw] of Object.entries(head.steps)) {
    // The record's keys were parsed as step ids.
    const stepId = id as StepId;
    if ('gate' in raw) steps.set(stepId, parse(GateStep, raw, head.id, ['steps', id]));
    else {
      const { grants, withheld } = readStepGrants(raw['grants'], head.id, `steps.${id}.grants`);
      const step = parse(WorkStep, grants === undefined ? raw : { ...raw, grants }, head.id, ['steps', id]);
      steps.set(stepId, step);
      warnings.push(...withheld);
      if (step.does === 'build' && step.verification === 'off')
        warnings.push({ path: `steps.${id}.verification`, reason: 'a finish of this step wants no passed tests' });
    }
  }
  return { ...head, steps, warnings };
}

/** Grants by capability, from grants as a document states them. */
function readStepGrants(
  document: unknown,
  topology: string,
  path: string,
): { readonly grants?: Grants; readonly withheld: readonly TopologyWarning[] } {
  if (document === undefined) return { withheld: [] };
  const reading = readGrants(document);
  const at = (below: string) => (below === '' ? path : `${path}.${below}`);
  if (reading.kind === 'rejected') {
    const [problem] = reading.problems;
    const { reason } = problem;
    throw new FlotillaError(errors.topologyInvalid, { topology, path: at(problem.path), reason });
  }
  return {
    grants: reading.grants,
    withheld: reading.withheld.map((note) => ({ path: at(note.path), reason: note.reason })),
  };
}

function parse<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  topology: string,
  above: readonly string[],
): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  // A misspelt key is also a missing one; the spelling is what helps.
  const issue = parsed.error.issues.find(({ code }) => code === 'unrecognized_keys') ?? parsed.error.issues[0];
  const key = issue?.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
  const path = [...above, ...(issue?.path ?? []), ...key].map(String).join('.') || '(document)';
  throw new FlotillaError(errors.topologyInvalid, { topology, path, reason: issue?.message ?? 'it cannot be read' });
}

function checkEdges(
  topology: Topology,
  step: WorkStep | GateStep,
): { readonly path: string; readonly reason: string } | undefined {
  const wanted = 'gate' in step ? outcomesOfGate : outcomesOfVerb[step.does];
  const possible = 'gate' in step ? outcomesOfGate : [...wanted, ...troublesOfAnyVerb];
  const missing = wanted.find((outcome) => step.on[outcome] === undefined);
  if (missing !== undefined) return { path: '', reason: `it does not say where "${missing}" leads` };
  for (const [outcome, target] of Object.entries(step.on)) {
    if (!possible.some((each) => each === outcome))
      return { path: `.${outcome}`, reason: `it never ends so; it ends ${possible.join(', ')}` };
    if (target !== END && !topology.steps.has(target as StepId))
      return { path: `.${outcome}`, reason: `there is no step "${target}"` };
  }
  return undefined;
}

function compileStep(topology: Topology, step: WorkStep | GateStep): SlipStep {
  if ('gate' in step) return { kind: 'gate', question: step.question, on: step.on };
  return {
    kind: 'work',
    does: step.does,
    visits: step.limits.visits ?? DEFAULT_VISITS,
    grants: 'grants' in step ? step.grants : {},
    allowance: 'grants' in step ? allowanceOf(topology, step.limits) : null,
    verification: step.does === 'build' ? step.verification : 'off',
    on: step.on,
  };
}

function budgetOf({ limits }: Topology): Allowance {
  const { turns, calls, tokens, microdollars, minutes } = limits;
  return { turns, calls, tokens, microdollars, seconds: minutes * 60 };
}

function allowanceOf(topology: Topology, limits: AgentLimits): Allowance {
  const budget = budgetOf(topology);
  const least = (most: number, limit: number | undefined) => Math.min(most, limit ?? most);
  return {
    turns: least(budget.turns, limits.turns),
    calls: least(budget.calls, limits.calls),
    tokens: least(budget.tokens, limits.tokens),
    microdollars: least(budget.microdollars, limits.microdollars),
    seconds: least(budget.seconds, limits.minutes === undefined ? undefined : limits.minutes * 60),
  };
}
