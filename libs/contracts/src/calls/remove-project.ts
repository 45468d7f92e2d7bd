import { z } from 'zod';
import { defineCall } from '../define-call.ts';
import { ProjectName } from '../ids.ts';
import { exampleProject, ProjectView } from './project-view.ts';

export const RemoveProject = defineCall({
  name: 'removeProject',
  kind: 'command',
  servedBy: 'router',
  roles: ['operate'],
  summary:
    'Removes a project and frees its name. Its runs and their logs stay; keys of its tasks stay taken. Refused while runs of it have not ended.',
  http: { method: 'POST', path: '/v1/projects/{name}/remove' },
  request: z.strictObject({ name: ProjectName.meta({ field: 1 }) }),
  response: z.object({
    project: ProjectView.meta({ field: 1, description: 'What was removed.' }),
    credentialUsed: z.boolean().meta({ field: 2, description: 'True where another project names its credential too.' }),
  }),
  errors: ['PROJECT_UNKNOWN', 'PROJECT_IN_USE'],
  cli: { verb: 'project remove' },
  example: { request: { name: 'slugify' }, response: { project: exampleProject, credentialUsed: false } },
});
