import { z } from 'zod';
import { BranchName } from '../branch-name.ts';
import { defineCall } from '../define-call.ts';
import { InspectRemote } from './inspect-remote.ts';
import { Failure } from './shapes.ts';
import { exampleProject, projectFields, ProjectView } from './project-view.ts';

export const AddProject = defineCall({
  name: 'addProject',
  kind: 'command',
  servedBy: 'router',
  answerLimitMs: 25_000,
  roles: ['operate'],
  summary:
    'Adds a repository under a name, once its remote was asked for the branch; without one, for its default branch, which is kept. A credential is named, never sent: its file lies in the credential directory of the merger. Adding the same again changes nothing.',
  http: { method: 'POST', path: '/v1/projects' },
  request: z
    .strictObject({
      ...projectFields,
      branch: BranchName.optional().meta({ ...projectFields.branch.meta() }),
      replace: z.boolean().default(false).meta({
        field: 9,
        description: 'Replaces a project of this name; runs under way keep what they began with.',
      }),
      unseen: z.boolean().default(false).meta({
        field: 10,
        description: 'Adds it without asking the remote; without a branch, each run asks for the default branch.',
      }),
    })
    .refine(({ unchecked, checks }) => !unchecked || checks.length === 0, {
      path: ['unchecked'],
      error: 'it says that there are no checks, and checks are given: give one or the other',
    }),
  response: z.object({
    project: ProjectView.meta({ field: 1, description: 'The project as it is kept.' }),
    created: z.boolean().meta({ field: 2, description: 'False where the same project was there already.' }),
    warnings: z
      .array(Failure)
      .default([])
      .meta({ field: 3, description: 'What would keep its runs from landing, as the remote is now.' }),
  }),
  errors: ['PROJECT_EXISTS', 'PROJECT_REMOTE_INVALID', 'TOPOLOGY_UNKNOWN', 'REMOTE_NOT_ASKED', ...InspectRemote.errors],
  cli: { verb: 'project add' },
  example: {
    request: { name: 'slugify', remote: 'https://git.example.com/acme/slugify.git', checks: ['npm test'] },
    response: { project: exampleProject, created: true },
  },
});
