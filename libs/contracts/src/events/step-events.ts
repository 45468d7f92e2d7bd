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
  payload: z.object({
    verb: Verb.describe('What the step does.'),
    service: z.string().describe('The service that took it.'),
    instance: z.string().describe('The process of that service; a restart has another name.'),
    delivery: z.int().positive().describe('1 for the first arrival of the request.'),
  }),
  example: { verb: 'build', service: 'executor', instance: 'executor-1', delivery: 1 },
});

export const AttemptFailed = defineEvent({
  type: 'step.attempt_failed',
  scope: 'step',
  summary: 'A delivery of the step failed and will be tried again, or waits for something at no cost.',
  payload: z.object({
    code: z.string().describe('Code of the error.'),
    message: z.string().describe('What happened.'),
    retryInMs: z.int().nonnegative().describe('Milliseconds until it is tried again.'),
    waiting: z.boolean().describe('True where it waits for something, which costs no attempt.'),
  }),
  example: { code: 'MODEL_RATE_LIMITED', message: 'The model provider is busy', retryInMs: 5000, waiting: false },
});

export const RepositoryOpened = defineEvent({
  type: 'repository.opened',
  scope: 'step',
  summary: 'The base commit was resolved and its bundle stored.',
  payload: z.object({
    repository: z.string().describe('Canonical identity of the remote.'),
    branch: z.string().describe('Branch that receives the change.'),
    commit: CommitId.describe('Head of the branch: where the work starts.'),
    tree: TreeId.describe('Tree of that commit.'),
    files: z.int().nonnegative().describe('How many files it has.'),
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
    key: z.string().nullable().describe('Key of the installed dependencies; null where there are none.'),
    how: z
      .enum(['ran', 'reused', 'none', 'skipped'])
      .describe('Installed now or before; or not, as the project needs none or the task wants none.'),
    commands: z.array(z.string()).describe('Commands that install them.'),
    durationMs: z.int().nonnegative().describe('Milliseconds it took.'),
    output: z.string().describe('What the commands printed, or its end.'),
  }),
  example: { key: 'f'.repeat(64), how: 'ran', commands: ['npm ci'], durationMs: 4200, output: 'added 40 packages' },
});

export const DoorRequest = defineEvent({
  type: 'door.request',
  scope: 'step',
  summary: 'Something in a slot asked for the network through the door.',
  payload: z.object({
    host: z.string().describe('Name or address that was asked for.'),
    port: z.int().describe('Port of that host.'),
    method: z.string().describe('HTTP method; CONNECT for a tunnel.'),
    verdict: z.enum(['allow', 'refuse']).describe('Whether the door let it pass.'),
    reason: z.string().describe('Why.'),
    bytes: z.int().nonnegative().describe('Bytes that went through, both ways.'),
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
  payload: z.object({ plan: z.string().describe('The plan, in words.') }),
  example: { plan: '1. Keep digits in slugify.js.\n2. Run the tests.' },
});

export const ChangeCaptured = defineEvent({
  type: 'change.captured',
  scope: 'step',
  summary: 'The workspace was captured as a commit.',
  payload: z.object({
    change: Change.describe('The commit that it was captured as.'),
    summary: z.string().describe('What the agent says it did.'),
    diff: z.string().describe('Unified diff of base to commit.'),
    diffTruncated: z.boolean().describe('True where the diff is longer than what is kept.'),
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
    diffTruncated: z.boolean().describe('True where the diff is longer than what is kept.'),
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
    command: z.string().describe('The check.'),
    exitCode: z.int().describe('0: it passed.'),
    timedOut: z.boolean().describe('True where it was ended for taking too long.'),
    durationMs: z.int().nonnegative().describe('Milliseconds it took.'),
    output: z.string().describe('What it printed, or its end.'),
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
  payload: z.object({
    tree: TreeId.describe('The tree that was checked.'),
    image: z.string().describe('Image of the sandbox that it was checked in.'),
    check: z.string().describe('Command that did not pass.'),
    exitCode: z.int().describe('Its exit code.'),
  }),
  example: { tree: 'b'.repeat(40), image: 'flotilla/sandbox:1', check: 'npm test', exitCode: 1 },
});

export const ReviewWritten = defineEvent({
  type: 'review.written',
  scope: 'step',
  summary: "The review's verdict and findings.",
  payload: z.object({
    verdict: z.enum(['approve', 'request_changes']).describe('What the reviewer would do.'),
    summary: z.string().describe('The judgement, in words.'),
    findings: z.array(Finding).describe('What was found, one by one.'),
  }),
  example: {
    verdict: 'approve',
    summary: 'Small and tested.',
    findings: [{ severity: 'suggestion', text: 'Name the regular expression.' }],
  },
});

export const PushStarted = defineEvent({
  type: 'change.push_started',
  scope: 'step',
  summary: 'The commit is about to be pushed; from here on only the branch tells whether it landed.',
  payload: z.object({
    branch: z.string().describe('The branch.'),
    commit: CommitId.describe('What is pushed to it.'),
  }),
  example: { branch: 'main', commit: 'c'.repeat(40) },
});

export const ChangeLanded = defineEvent({
  type: 'change.landed',
  scope: 'step',
  summary: "The remote's branch was seen to point at this commit.",
  payload: z.object({
    branch: z.string().describe('The branch.'),
    commit: CommitId.describe('What it points at now.'),
    tree: TreeId.describe('Tree of that commit.'),
    previous: CommitId.describe('What it pointed at before.'),
    how: z
      .enum(['fast_forward', 'merge', 'found'])
      .describe('As the reviewed commit itself, as a merge of it, or found landed by an earlier delivery.'),
    diff: z.string().describe('Unified diff of previous to commit.'),
    diffTruncated: z.boolean().describe('True where the diff is longer than what is kept.'),
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
  payload: z.object({ summary: z.string().describe('The account, in words.') }),
  example: { summary: 'Digits are kept in slugs; one line changed, tests pass.' },
});

const MemoryProposed = defineEvent({
  type: 'memory.proposed',
  scope: 'step',
  summary: 'A memory went to the inbox; it has no authority before it is promoted.',
  payload: z.object({
    kind: z.enum(['learning', 'pattern', 'decision']).describe('What kind of thing is to be kept.'),
    title: z.string().describe('What it is about.'),
    text: z.string().describe('What is to be kept, in words.'),
  }),
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
  PushStarted,
  ChangeLanded,
  SummaryWritten,
  MemoryProposed,
] as const;
