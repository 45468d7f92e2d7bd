import { z } from 'zod';
import { Spent } from '../allowance.ts';
import { defineEvent } from '../define-event.ts';
import { CommitId, TreeId } from '../ids.ts';

const callId = z.string().describe('Names one tool call of this step for ever: `<turn>.<index>`.');

const tool = z.string().describe('Id of the tool.');
const durationMs = z.int().nonnegative().describe('Milliseconds it took.');

export const ToolCallMade = z.object({
  callId,
  tool,
  arguments: z.unknown().describe('As the model gave them; a string where they were not JSON.'),
  malformed: z.string().optional().describe('Why the arguments could not be read.'),
});
export type ToolCallMade = z.infer<typeof ToolCallMade>;

export const TurnTaken = defineEvent({
  type: 'agent.turn',
  scope: 'step',
  summary: 'The model answered: its text and the calls it made. Its reasoning is not kept.',
  payload: z.object({
    turn: z.int().positive().describe('1 for the first answer of the step.'),
    model: z.string().describe('The model that answered.'),
    text: z.string().describe('What it said.'),
    calls: z.array(ToolCallMade).describe('The tool calls it made, in order.'),
    finish: z.string().describe('Why the answer ended, as the model says.'),
    spent: Spent.describe('What the turn spent; its calls are counted as they start.'),
    inputTokens: z.int().nonnegative().describe('Tokens of what the model was given.'),
    outputTokens: z.int().nonnegative().describe('Tokens of its answer.'),
    durationMs,
  }),
  example: {
    turn: 1,
    model: 'scripted',
    text: 'I look at the tests first.',
    calls: [{ callId: '1.0', tool: 'fs.read', arguments: { path: 'test.js' } }],
    finish: 'tool_calls',
    spent: { turns: 1, calls: 0, tokens: 900, microdollars: null, seconds: 0.2 },
    inputTokens: 860,
    outputTokens: 40,
    durationMs: 200,
  },
});

export const TurnBroken = defineEvent({
  type: 'agent.turn_broken',
  scope: 'step',
  summary: 'An answer of the model broke off and is not used; what it cost is estimated.',
  payload: z.object({
    turn: z.int().positive().describe('The turn that was being taken.'),
    model: z.string().describe('The model that answered.'),
    code: z.string().describe('Why it broke off.'),
    spent: Spent.describe(
      'What was asked and received, as tokens and money; the turn itself is counted once it is whole.',
    ),
  }),
  example: {
    turn: 1,
    model: 'scripted',
    code: 'MODEL_STREAM_CUT',
    spent: { turns: 0, calls: 0, tokens: 880, microdollars: null, seconds: 0.2 },
  },
});

export const ToolDecided = defineEvent({
  type: 'tool.decided',
  scope: 'step',
  summary: 'Policy decided on a call; written before the tool runs, plain allows too.',
  payload: z.object({
    callId,
    tool,
    verdict: z.enum(['allow', 'ask', 'refuse']).describe('What policy says.'),
    code: z.string().describe('The rule that decided.'),
    reason: z.string().describe('Why, in words, as the model is told.'),
  }),
  example: { callId: '1.0', tool: 'fs.read', verdict: 'allow', code: 'GRANTED', reason: 'fs.read is granted' },
});

export const ToolStarted = defineEvent({
  type: 'tool.started',
  scope: 'step',
  summary: 'The tool begins; without a `tool.finished` after it the call was interrupted.',
  payload: z.object({ callId, tool, summary: z.string().describe('What it is about to do, in one line.') }),
  example: { callId: '1.0', tool: 'fs.read', summary: 'test.js' },
});

export const ToolFinished = defineEvent({
  type: 'tool.finished',
  scope: 'step',
  summary: 'What the tool gave back, as the model reads it.',
  payload: z.object({
    callId,
    tool,
    ok: z.boolean().describe('Whether it went well.'),
    code: z.string().optional().describe('Code of the error, where it did not.'),
    result: z.string().describe('The text that the model reads.'),
    exitCode: z.int().optional().describe('Of the command, where one ran.'),
    changedFiles: z.boolean().describe('True where the call may have changed the workspace.'),
    durationMs,
  }),
  example: {
    callId: '1.0',
    tool: 'fs.read',
    ok: true,
    result: "assert.equal(slugify('A 1'), 'a-1')",
    changedFiles: false,
    durationMs: 2,
  },
});

export const CheckpointTaken = defineEvent({
  type: 'agent.checkpoint',
  scope: 'step',
  summary: 'The workspace after a mutating turn, kept so that another process can go on from it.',
  payload: z.object({
    turn: z.int().positive().describe('The turn that it was taken after.'),
    commit: CommitId.nullable().describe('The workspace as a commit; null: equal to where the step began.'),
    tree: TreeId.nullable().describe('Tree of that commit.'),
    bundle: z.string().nullable().describe('Name of its bundle in the `changes` bucket.'),
  }),
  example: {
    turn: 3,
    commit: 'c'.repeat(40),
    tree: 'b'.repeat(40),
    bundle: 'run_01j9z3k8m2n4p6q8r0s2t4v6w8/build/1/3',
  },
});

const TodoWritten = defineEvent({
  type: 'agent.todo',
  scope: 'step',
  summary: "The agent's checklist, whole.",
  payload: z.object({
    items: z
      .array(
        z.object({
          text: z.string().describe('What is to be done.'),
          status: z.enum(['pending', 'in_progress', 'completed', 'blocked']).describe('How far it is.'),
        }),
      )
      .describe('Every item, in order.'),
  }),
  example: { items: [{ text: 'Keep digits', status: 'completed' }] },
});

export const AgentNudged = defineEvent({
  type: 'agent.nudge',
  scope: 'step',
  summary: 'The loop told the model something: a limit is near, an answer was not usable, a call repeats.',
  payload: z.object({
    code: z.string().describe('What the loop noticed.'),
    text: z.string().describe('What it told the model.'),
  }),
  example: { code: 'NO_TOOL_CALL', text: 'Call a tool, or finish.' },
});

export const FinishRefused = defineEvent({
  type: 'agent.finish_refused',
  scope: 'step',
  summary: 'The agent wanted to finish while changed files had not passed the tests.',
  payload: z.object({
    cycle: z.int().positive().describe('How often it was refused by now.'),
    command: z.string().describe('The tests that have to pass.'),
  }),
  example: { cycle: 1, command: 'npm test' },
});

export const AgentFinished = defineEvent({
  type: 'agent.finished',
  scope: 'step',
  summary: 'The loop of this step ended.',
  payload: z.object({
    outcome: z.string().describe('How it ended.'),
    verified: z.boolean().describe('Whether the tests passed on what it leaves.'),
    spent: Spent.describe('What the attempt spent.'),
  }),
  example: {
    outcome: 'finished',
    verified: true,
    spent: { turns: 5, calls: 7, tokens: 9000, microdollars: null, seconds: 3.5 },
  },
});

export const journalEvents = [
  TurnTaken,
  TurnBroken,
  ToolDecided,
  ToolStarted,
  ToolFinished,
  CheckpointTaken,
  TodoWritten,
  AgentNudged,
  FinishRefused,
  AgentFinished,
] as const;
