import { z } from 'zod';
import { defineCall } from '../define-call.ts';
import { ProjectName } from '../ids.ts';
import { exampleProject, ProjectView } from './project-view.ts';
import { limit } from './shapes.ts';

export const ListProjects = defineCall({
  name: 'listProjects',
  kind: 'query',
  servedBy: 'gateway',
  roles: ['read'],
  summary: 'Lists projects by name.',
  http: { method: 'GET', path: '/v1/projects' },
  request: z.strictObject({
    limit: limit.default(100).meta({ field: 1 }),
    after: ProjectName.optional().meta({
      field: 2,
      description: 'Only names after this one: `next` of the page before.',
    }),
  }),
  response: z.object({
    projects: z.array(ProjectView).meta({ field: 1, description: 'In the order of their names.' }),
    next: ProjectName.optional().meta({ field: 2, description: 'Where the next page begins; absent on the last.' }),
  }),
  errors: [],
  cli: { verb: 'project list' },
  example: { request: {}, response: { projects: [exampleProject] } },
});
