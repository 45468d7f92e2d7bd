import { z } from 'zod';
import { defineMessage, type MessageOf } from '../define-message.ts';
import { BranchName } from '../branch-name.ts';
import { Mode } from '../grants.ts';
import { ProjectName, TopologyId } from '../ids.ts';

const GOAL_LIMIT_BYTES = 64 * 1024;

/** What somebody asks for. Read strictly: a field that is not listed is refused. */
export const Task = z.strictObject({
  goal: z
    .string()
    .trim()
    .min(1)
    .refine(
      (goal) => new TextEncoder().encode(goal).length <= GOAL_LIMIT_BYTES,
      `a goal has at most ${GOAL_LIMIT_BYTES} bytes`,
    )
    .describe('What is wanted, in words; at most 64 KiB.'),
  project: ProjectName.describe('Name of a project that was added.'),
  topology: TopologyId.optional().describe("Default: the project's."),
  branch: BranchName.optional().describe("Branch that receives the change; default: the project's."),
  mode: Mode.optional().describe(
    'May only restrict: plan changes nothing, and the run ends with what it found; normal refuses what it would ask for while nobody can be asked during a step. Default: the mode of the installation, FLOTILLA_RUN_MODE.',
  ),
  externalKey: z
    .string()
    .min(1)
    .max(255)
    .refine((key) => key.isWellFormed() && !key.includes('\0'), 'a key has neither NUL nor half a character')
    .optional()
    .describe("A key of the caller's: for the project's repository the same key gives the same run back, for ever."),
  setup: z.boolean().optional().describe('False skips the installation of dependencies; default: true.'),
});
export type Task = z.infer<typeof Task>;

export const TaskSubmitted = defineMessage({
  name: 'TaskSubmitted',
  subject: 'flotilla.tasks.submitted',
  stream: 'TASKS',
  version: 1,
  producers: ['client'],
  consumer: 'router',
  summary:
    'A task for the fleet. An outside publisher with a principal of its own publishes on `flotilla.tasks.submitted.<principal>`.',
  payload: Task,
  example: { goal: 'Make slugify keep digits.', project: 'slugify', externalKey: 'ticket-4711' },
  messageId: ({ project, externalKey, goal }) => `task/${project}/${externalKey ?? goal}`,
});
export type TaskSubmitted = MessageOf<typeof TaskSubmitted>;
