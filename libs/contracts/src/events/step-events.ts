import { z } from 'zod';
import { Change, Evidence, Finding } from '../change.ts';
import { defineEvent } from '../define-event.ts';
import { CommitId, TreeId } from '../ids.ts';
import { exampleChange } from '../messages/step-request.example.ts';
import { Verb } from '../verbs.ts';

export const StepStarted = defineEvent({
  type: 'step.started',
  scope: 'step',
  summary: 'A service took the step; a delivery above 1 means an earlier one did not end.',
  payload: z.object({ verb: Verb, service: z.string(), instance: z.string(), delivery: z.int().positive() }),
  example: { verb: 'build', service: 'executor', instance: 'executor-1', delivery: 1 },
});

export const AttemptFailed = defineEvent({
  type: 'step.attempt_failed',
  scope: 'step',
  summary: 'A delivery of the step failed and will be tried again, or waits for something at no cost.',
  payload: z.object({ code: z.string(), message: z.string(), retryInMs: z.int().nonnegative(), waiting: z.boolean() }),
  example: { code: 'MODEL_RATE_LIMITED', message: 'The model provider is busy', retryInMs: 5000, waiting: false },
});

export const RepositoryOpened = defineEvent({
  type: 'repository.opened',
  scope: 'step',
  summary: 'The base commit was resolved and its bundle stored.',
  payload: z.object({
    repository: z.string(),
    branch: z.string(),
    commit: CommitId,
    tree: TreeId,
    files: z.int().nonnegative(),
  }),
  example: {
    repository: 'git.example.com/acme/slugify',
    branch: 'main',
    commit: 'a'.repeat(40),
    tree: 'e'.repeat(40),
    files: 12,
  },
});

export const SetupFinished = defineEvent({
  type: 'setup.finished',
  scope: 'step',
  summary: 'Dependencies are in place for later workspaces.',
  payload: z.object({
    key: z.string().nullable(),
    how: z.enum(['ran', 'reused', 'none', 'skipped']),
    commands: z.array(z.string()),
    durationMs: z.int().nonnegative(),
    output: z.string(),
  }),
  example: { key: 'f'.repeat(64), how: 'ran', commands: ['npm ci'], durationMs: 4200, output: 'added 40 packages' },
});

export const DoorRequest = defineEvent({
  type: 'door.request',
  scope: 'step',
  summary: 'Something in a slot asked for the network through the door.',
  payload: z.object({
    host: z.string(),
    port: z.int(),
    method: z.string(),
    verdict: z.enum(['allow', 'refuse']),
    reason: z.string(),
    bytes: z.int().nonnegative(),
  }),
  example: {
    host: 'registry.example.com',
    port: 443,
    method: 'CONNECT',
    verdict: 'allow',
    reason: 'listed by the operator',
    bytes: 52_431,
  },
});

export const PlanWritten = defineEvent({
  type: 'plan.written',
  scope: 'step',
  summary: 'The planner wrote its plan.',
  payload: z.object({ plan: z.string() }),
  example: { plan: '1. Keep digits in slugify.js.\n2. Run the tests.' },
});

export const ChangeCaptured = defineEvent({
  type: 'change.captured',
  scope: 'step',
  summary: 'The workspace was captured as a commit.',
  payload: z.object({
    change: Change,
    summary: z.string(),
    diff: z.string().describe('Unified diff of base to commit.'),
    diffTruncated: z.boolean(),
  }),
  example: {
    change: exampleChange,
    summary: 'Digits are kept.',
    diff: '--- a/slugify.js\n+++ b/slugify.js\n',
    diffTruncated: false,
  },
});

export const ChangeMerged = defineEvent({
  type: 'change.merged',
  scope: 'step',
  summary: 'The branch moved: the approved change was merged with it, and the merge did not land as it is.',
  payload: z.object({
    change: Change.describe('Its base is the head of the branch that it was merged with.'),
    diff: z.string().describe('Unified diff of base to commit.'),
    diffTruncated: z.boolean(),
    reason: z.string().describe('Why it did not land.'),
  }),
  example: {
    change: { ...exampleChange, commit: '9'.repeat(40), base: '8'.repeat(40) },
    diff: '--- a/slugify.js\n+++ b/slugify.js\n',
    diffTruncated: false,
    reason: 'The branch moved, and merged with it the change is no longer the one that was approved.',
  },
});

export const CheckRan = defineEvent({
  type: 'check.ran',
  scope: 'step',
  summary: 'One check ran in a clean slot.',
  payload: z.object({
    command: z.string(),
    exitCode: z.int(),
    timedOut: z.boolean(),
    durationMs: z.int().nonnegative(),
    output: z.string(),
  }),
  example: { command: 'npm test', exitCode: 0, timedOut: false, durationMs: 900, output: 'ok' },
});

export const ChecksPassed = defineEvent({
  type: 'checks.passed',
  scope: 'step',
  summary: 'Evidence: the named checks passed on exactly this tree in this image.',
  payload: Evidence,
  example: { tree: 'b'.repeat(40), image: 'flotilla/sandbox:1', checks: ['npm test'] },
});

const ChecksFailed = defineEvent({
  type: 'checks.failed',
  scope: 'step',
  summary: 'A check did not pass on this tree.',
  payload: z.object({ tree: TreeId, image: z.string(), check: z.string(), exitCode: z.int() }),
  example: { tree: 'b'.repeat(40), image: 'flotilla/sandbox:1', check: 'npm test', exitCode: 1 },
});

export const ReviewWritten = defineEvent({
  type: 'review.written',
  scope: 'step',
  summary: "The review's verdict and findings.",
  payload: z.object({
    verdict: z.enum(['approve', 'request_changes']),
    summary: z.string(),
    findings: z.array(Finding),
  }),
  example: {
    verdict: 'approve',
    summary: 'Small and tested.',
    findings: [{ severity: 'suggestion', text: 'Name the regular expression.' }],
  },
});

export const ChangeLanded = defineEvent({
  type: 'change.landed',
  scope: 'step',
  summary: "The remote's branch was seen to point at this commit.",
  payload: z.object({
    branch: z.string(),
    commit: CommitId,
    tree: TreeId,
    previous: CommitId,
    how: z.enum(['fast_forward', 'merge', 'found']),
    diff: z.string(),
    diffTruncated: z.boolean(),
  }),
  example: {
    branch: 'main',
    commit: 'c'.repeat(40),
    tree: 'b'.repeat(40),
    previous: 'a'.repeat(40),
    how: 'fast_forward',
    diff: '',
    diffTruncated: false,
  },
});

export const SummaryWritten = defineEvent({
  type: 'summary.written',
  scope: 'step',
  summary: "The scribe's account of the run.",
  payload: z.object({ summary: z.string() }),
  example: { summary: 'Digits are kept in slugs; one line changed, tests pass.' },
});

const MemoryProposed = defineEvent({
  type: 'memory.proposed',
  scope: 'step',
  summary: 'A memory went to the inbox; it has no authority before it is promoted.',
  payload: z.object({ kind: z.enum(['learning', 'pattern', 'decision']), title: z.string(), text: z.string() }),
  example: { kind: 'learning', title: 'Slugs', text: 'Tests of slugify live in test.js.' },
});

export const stepEvents = [
  StepStarted,
  AttemptFailed,
  RepositoryOpened,
  SetupFinished,
  DoorRequest,
  PlanWritten,
  ChangeCaptured,
  ChangeMerged,
  CheckRan,
  ChecksPassed,
  ChecksFailed,
  ReviewWritten,
  ChangeLanded,
  SummaryWritten,
  MemoryProposed,
] as const;
