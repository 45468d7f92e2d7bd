import { z } from 'zod';
import { Allowance } from '../allowance.ts';
import { ChangedFile as ChangedFileShape, Finding as FindingShape } from '../change.ts';
import { Mode as ModeShape } from '../grants.ts';
import { CommitId, TreeId } from '../ids.ts';
import { outcomeKinds } from '../outcome.ts';
import { Verb as VerbShape } from '../verbs.ts';
import { runResults } from '../events/run-events.ts';
import { numberFields } from './number-fields.ts';

/** Shapes that several calls share, with their names and numbers in the .proto. */

export const Mode = ModeShape.meta({ id: 'Mode' });
export const Verb = VerbShape.meta({ id: 'Verb' });
export const RunResult = z.enum(runResults).meta({ id: 'RunResult' });
export const OutcomeKind = z.enum(outcomeKinds).meta({ id: 'OutcomeKind' });

/**
 * `running`: a step is asked for or at work. `at_gate`: a person is asked. `awaiting_turn`: approved, another run has
 * its turn on the branch. `cancelling`: asked to stop, a step has not answered yet. `ended`: it has its result.
 */
const runStates = ['running', 'at_gate', 'awaiting_turn', 'cancelling', 'ended'] as const;
export const RunState = z.enum(runStates).meta({ id: 'RunState' });
export type RunState = z.infer<typeof RunState>;

export const Budget = numberFields('Budget', Allowance, { turns: 1, calls: 2, tokens: 3, microdollars: 4, seconds: 5 });

const amount = z.int().nonnegative();

export const Spending = z
  .object({
    turns: amount.meta({ field: 1, description: 'Model turns.' }),
    calls: amount.meta({ field: 2, description: 'Tool calls.' }),
    tokens: amount.meta({ field: 3, description: 'Input and output tokens together.' }),
    microdollars: amount
      .nullable()
      .meta({ field: 4, description: 'Null when the price of a used model is not known.' }),
    milliseconds: amount.meta({ field: 5, description: 'Wall-clock time of work, waiting left out.' }),
  })
  .meta({ id: 'Spending' });
export type Spending = z.infer<typeof Spending>;

export const ChangedFile = numberFields('ChangedFile', ChangedFileShape, {
  path: 1,
  status: { field: 2, id: 'ChangeStatus' },
  additions: 3,
  deletions: 4,
});

export const Finding = numberFields('Finding', FindingShape, {
  severity: { field: 1, id: 'Severity' },
  path: 2,
  line: 3,
  text: 4,
});

/** A change as a person decides on it; its bundle stays inside the fleet. */
export const ProposedChange = z
  .object({
    commit: CommitId.meta({ field: 1, description: 'The change as a commit.' }),
    tree: TreeId.meta({ field: 2, description: 'Tree of that commit.' }),
    base: CommitId.meta({ field: 3, description: 'Parent of the commit.' }),
    files: z.array(ChangedFile).meta({ field: 4, description: 'Files that differ from the base.' }),
  })
  .meta({ id: 'ProposedChange' });
export type ProposedChange = z.infer<typeof ProposedChange>;

/** How something ended badly, in words for a person. */
export const Failure = z
  .object({
    code: z.string().meta({ field: 1, description: 'Code of the error catalogue.' }),
    message: z.string().meta({ field: 2, description: 'What happened.' }),
    advice: z.string().meta({ field: 3, description: 'What to do next.' }),
  })
  .meta({ id: 'Failure' });

export const exampleSpending: z.input<typeof Spending> = {
  turns: 9,
  calls: 14,
  tokens: 20_000,
  microdollars: null,
  milliseconds: 31_000,
};

export const exampleProposal: z.input<typeof ProposedChange> = {
  commit: 'c'.repeat(40),
  tree: 'b'.repeat(40),
  base: 'a'.repeat(40),
  files: [{ path: 'slugify.js', status: 'modified', additions: 1, deletions: 1 }],
};

/** Most entries a page of any list has. */
export const PAGE_LIMIT = 500;
export const limit = z.int().min(1).max(PAGE_LIMIT).describe(`Most entries of the page; at most ${PAGE_LIMIT}.`);
