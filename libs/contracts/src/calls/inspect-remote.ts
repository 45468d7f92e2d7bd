import { z } from 'zod';
import { BranchName } from '../branch-name.ts';
import { defineCall } from '../define-call.ts';
import { CommitId } from '../ids.ts';
import { projectFields } from './project-view.ts';

export const InspectRemote = defineCall({
  name: 'inspectRemote',
  kind: 'query',
  servedBy: 'merger',
  askedBy: ['router'],
  answerLimitMs: 20_000,
  roles: ['operate'],
  summary:
    'Asks a git remote, with a credential that is named, for a branch; by default for its own default branch. Changes nothing. Adding a project asks the same.',
  http: { method: 'POST', path: '/v1/remotes/inspect' },
  request: z.strictObject({
    remote: projectFields.remote.meta({ field: 1 }),
    credential: projectFields.credential.meta({ field: 2 }),
    branch: BranchName.optional().meta({
      field: 3,
      description: "Branch to look for; default: the remote's default branch.",
    }),
    lookForTests: z
      .boolean()
      .default(false)
      .meta({ field: 4, description: 'Takes the tree of the branch too, to see whether it tells its test command.' }),
  }),
  response: z.object({
    repository: z.string().meta({ field: 1, description: 'One per repository, however its address is spelt.' }),
    branch: z.string().meta({ field: 2, description: 'The branch that was found.' }),
    commit: CommitId.meta({ field: 3, description: 'What the branch is at.' }),
    checkedOut: z.boolean().default(false).meta({
      field: 4,
      description: 'True where a local repository has the branch checked out and refuses pushes to it.',
    }),
    tests: z
      .enum(['detected', 'none'])
      .meta({ id: 'TestsFound' })
      .optional()
      .meta({ field: 5, description: 'Absent where nobody looked, or the tree did not come in time.' }),
  }),
  errors: [
    'REMOTE_URL_REFUSED',
    'REMOTE_NOT_FOUND',
    'REMOTE_UNREACHABLE',
    'REMOTE_CREDENTIAL_REFUSED',
    'REMOTE_CREDENTIAL_MISMATCH',
    'REMOTE_HOST_KEY_CHANGED',
    'REMOTE_NOT_CLONEABLE',
    'REMOTE_CERTIFICATE_REFUSED',
    'REMOTE_REDIRECTED',
    'REMOTE_OWNED_BY_SOMEONE_ELSE',
    'REMOTE_EMPTY',
    'BRANCH_UNKNOWN',
    'BRANCH_NAME_REFUSED',
    'CREDENTIAL_MISSING',
    'CREDENTIAL_EXPOSED',
    'CREDENTIAL_UNREADABLE',
    'CREDENTIAL_FOR_OTHER_HOST',
    'GIT_MISSING',
    'GIT_FAILED',
    'GIT_TIMED_OUT',
    'MIRROR_BUSY',
    'MIRROR_DISK_FULL',
  ],
  example: {
    request: { remote: 'https://git.example.com/acme/slugify.git' },
    response: { repository: 'git.example.com/acme/slugify', branch: 'main', commit: 'c'.repeat(40) },
  },
});
