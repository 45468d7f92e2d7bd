import { z } from 'zod';
import { Project } from '../project.ts';

const { name, remote, credential, branch, topology, checks, unchecked, setup } = Project.shape;

/** What a person says of a repository. `setup` is wrapped, since a list cannot be absent in the .proto. */
export const projectFields = {
  name: name.meta({ field: 1 }),
  remote: remote.meta({ field: 2 }),
  credential: credential.meta({ field: 3 }),
  branch: branch.meta({ field: 4 }),
  topology: topology.meta({ field: 5 }),
  checks: checks.meta({ field: 6 }),
  unchecked: unchecked.meta({ field: 7 }),
  setup: setup.meta({ field: 8 }),
};

export const ProjectView = z
  .object({ ...projectFields, createdAt: z.iso.datetime().meta({ field: 9, description: 'When it was added.' }) })
  .meta({ id: 'Project' });
export type ProjectView = z.infer<typeof ProjectView>;

export const exampleProject: z.input<typeof ProjectView> = {
  name: 'slugify',
  remote: 'https://git.example.com/acme/slugify.git',
  topology: 'feature_builder',
  checks: ['npm test'],
  unchecked: false,
  createdAt: '2030-01-01T00:00:00.000Z',
};
