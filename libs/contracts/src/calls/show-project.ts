import { z } from 'zod';
import { defineCall } from '../define-call.ts';
import { ProjectName } from '../ids.ts';
import { exampleProject, ProjectView } from './project-view.ts';

export const ShowProject = defineCall({
  name: 'showProject',
  kind: 'query',
  servedBy: 'gateway',
  roles: ['read'],
  summary: 'Shows one project.',
  http: { method: 'GET', path: '/v1/projects/{name}' },
  request: z.strictObject({ name: ProjectName.meta({ field: 1 }) }),
  response: z.object({ project: ProjectView.meta({ field: 1, description: 'The project as it is kept.' }) }),
  errors: ['PROJECT_UNKNOWN'],
  cli: { verb: 'project show' },
  example: { request: { name: 'slugify' }, response: { project: exampleProject } },
});
