import { z } from 'zod';
import { defineCall } from '../define-call.ts';
import { CommitId, RunId, StepId } from '../ids.ts';
import { ChangedFile } from './shapes.ts';

export const SalvageRun = defineCall({
  name: 'salvageRun',
  kind: 'query',
  servedBy: 'merger',
  answerLimitMs: 120_000,
  roles: ['read'],
  summary:
    'Shows the newest work of an agent that a run kept, however its step ended, or while it is at work. Needs nothing of the host that it was done on.',
  http: { method: 'GET', path: '/v1/runs/{runId}/salvage' },
  request: z.strictObject({
    runId: RunId.meta({ field: 1 }),
    stepId: StepId.optional().meta({ field: 2, description: 'Only work of this step.' }),
    commit: CommitId.optional().meta({
      field: 3,
      description: 'Only this commit: the one of the first part, when the next part of its patch is asked for.',
    }),
    offset: z
      .int()
      .nonnegative()
      .default(0)
      .meta({ field: 4, description: 'Byte of the patch that the answer begins at.' }),
  }),
  response: z.object({
    runId: RunId.meta({ field: 1 }),
    state: z
      .enum(['none', 'found'])
      .meta({ id: 'SalvageState' })
      .meta({ field: 2, description: '`none`: no agent changed anything that was kept.' }),
    stepId: StepId.optional().meta({ field: 3, description: 'The step that it was done in.' }),
    attempt: z.int().positive().optional().meta({ field: 4, description: 'The attempt at that step.' }),
    turn: z
      .int()
      .positive()
      .optional()
      .meta({ field: 5, description: 'The turn that it was kept after; absent where it was handed in.' }),
    at: z.iso.datetime().optional().meta({ field: 6, description: 'When it was kept.' }),
    base: CommitId.optional().meta({ field: 7, description: 'What the patch starts from.' }),
    commit: CommitId.optional().meta({ field: 8, description: 'What the patch leads to.' }),
    files: z.array(ChangedFile).meta({ field: 9, description: 'Files that differ; only in the first part.' }),
    diff: z.string().meta({
      field: 10,
      description:
        'Unified diff for reading, only in the first part: text from the repository, escape it for a terminal.',
    }),
    truncated: z.boolean().meta({ field: 11, description: 'True where the diff is cut; the patch never is.' }),
    patch: z.string().meta({
      field: 12,
      description: 'A part of the patch that `git apply` takes, binary files included, in base64.',
    }),
    next: z
      .int()
      .positive()
      .optional()
      .meta({ field: 13, description: '`offset` of the next part; absent on the last.' }),
  }),
  errors: [
    'RUN_UNKNOWN',
    'RUN_ARCHIVED',
    'STEP_UNKNOWN',
    'COMMIT_UNAVAILABLE',
    'BUNDLE_PREREQUISITE_MISSING',
    'BUNDLE_REFUSED',
    'OBJECTS_REFUSED',
    'GIT_MISSING',
    'GIT_FAILED',
    'GIT_TIMED_OUT',
    'GIT_OUTPUT_TOO_LARGE',
    'MIRROR_BUSY',
    'MIRROR_DISK_FULL',
  ],
  cli: { verb: 'salvage' },
  example: {
    request: { runId: 'run_01j9z3k8m2n4p6q8r0s2t4v6w8', stepId: 'build' },
    response: {
      runId: 'run_01j9z3k8m2n4p6q8r0s2t4v6w8',
      state: 'found',
      stepId: 'build',
      attempt: 1,
      turn: 3,
      at: '2030-01-01T00:00:40.000Z',
      base: 'a'.repeat(40),
      commit: 'c'.repeat(40),
      files: [{ path: 'slugify.js', status: 'modified', additions: 1, deletions: 1 }],
      diff: '--- a/slugify.js\n+++ b/slugify.js\n@@ -1 +1 @@\n-const keep = /[a-z]/g;\n+const keep = /[a-z0-9]/g;\n',
      truncated: false,
      patch:
        'LS0tIGEvc2x1Z2lmeS5qcworKysgYi9zbHVnaWZ5LmpzCkBAIC0xICsxIEBACi1jb25zdCBrZWVwID0gL1thLXpdL2c7Citjb25zdCBrZWVwID0gL1thLXowLTldL2c7Cg==',
    },
  },
});
