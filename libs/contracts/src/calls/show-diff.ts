import { z } from 'zod';
import { defineCall } from '../define-call.ts';
import { CommitId, RunId } from '../ids.ts';
import { ChangedFile } from './shapes.ts';

export const ShowDiff = defineCall({
  name: 'showDiff',
  kind: 'query',
  servedBy: 'gateway',
  roles: ['read'],
  summary: 'Shows what a run proposes, or what it landed once it did.',
  http: { method: 'GET', path: '/v1/runs/{runId}/diff' },
  request: z.strictObject({ runId: RunId.meta({ field: 1 }) }),
  response: z.object({
    runId: RunId.meta({ field: 1 }),
    state: z
      .enum(['none', 'proposed', 'landed'])
      .meta({ id: 'DiffState' })
      .meta({ field: 2, description: 'How far the change is.' }),
    base: CommitId.optional().meta({ field: 3, description: 'What the diff starts from.' }),
    commit: CommitId.optional().meta({ field: 4, description: 'What the diff leads to.' }),
    summary: z.string().optional().meta({ field: 5, description: "The author's account of the change." }),
    files: z.array(ChangedFile).meta({ field: 6, description: 'Files that differ.' }),
    diff: z.string().meta({
      field: 7,
      description: 'Unified diff of base to commit: text from the repository, escape it for a terminal.',
    }),
    truncated: z.boolean().meta({ field: 8, description: 'True where the diff is longer than the log keeps.' }),
  }),
  errors: ['RUN_UNKNOWN', 'RUN_ARCHIVED'],
  cli: { verb: 'diff' },
  example: {
    request: { runId: 'run_01j9z3k8m2n4p6q8r0s2t4v6w8' },
    response: {
      runId: 'run_01j9z3k8m2n4p6q8r0s2t4v6w8',
      state: 'proposed',
      base: 'a'.repeat(40),
      commit: 'c'.repeat(40),
      summary: 'Digits are kept.',
      files: [{ path: 'slugify.js', status: 'modified', additions: 1, deletions: 1 }],
      diff: '--- a/slugify.js\n+++ b/slugify.js\n@@ -1 +1 @@\n-const keep = /[a-z]/g;\n+const keep = /[a-z0-9]/g;\n',
      truncated: false,
    },
  },
});
