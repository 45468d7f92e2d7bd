import { AddProject } from '@flotilla/contracts/calls/add-project';
import { ProjectName } from '@flotilla/contracts/ids';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { z } from 'zod';
import { exitCodes } from '../exit-codes.ts';
import { report } from '../session.ts';
import { renderWarning } from '../text/render-warning.ts';
import { readGiven, type Verb } from '../verb.ts';
import { renderProject } from './projects.ts';
import { readRemoteAddress } from './remote-address.ts';
import { writeCredential } from './credential-file.ts';

const Given = z.object({
  name: ProjectName,
  remote: z.string({ error: 'name the repository with --remote URL' }).min(1),
  branch: z.string().optional(),
  topology: z.string().optional(),
  check: z.array(z.string()).default([]),
  unchecked: z.boolean().default(false),
  setup: z.union([z.array(z.string()), z.literal(false), z.literal(true)]).optional(),
  tokenFile: z.string().optional(),
  tokenEnv: z.string().optional(),
  sshKey: z.string().optional(),
  credential: z.string().optional(),
  replace: z.boolean().default(false),
  unseen: z.boolean().default(false),
});

export const addProject: Verb = {
  name: 'project add',
  summary: 'add a repository under a name, once its remote was asked for the branch',
  arguments: [{ name: 'name', summary: 'lower case letters, digits and hyphens' }],
  options: [
    { flags: '--remote <url>', summary: 'path, https or ssh URL of the git remote' },
    {
      flags: '--branch <name>',
      summary: "branch that receives changes; default: the remote's default branch as it is now",
    },
    {
      flags: '--check <command>',
      summary: 'command that must pass; default: the detected test command',
      repeatable: true,
    },
    { flags: '--unchecked', summary: 'accept landing without any check', excludes: ['--check'] },
    { flags: '--setup <command>', summary: 'command that installs dependencies; default: detected', repeatable: true },
    { flags: '--no-setup', summary: 'install no dependencies' },
    { flags: '--topology <id>', summary: 'policy of its runs; default feature_builder' },
    { flags: '--token-file <file>', summary: 'file with the token of an https remote' },
    {
      flags: '--token-env <variable>',
      summary: 'environment variable with the token of an https remote',
      excludes: ['--token-file'],
    },
    { flags: '--ssh-key <file>', summary: 'private key of an ssh remote', excludes: ['--token-file', '--token-env'] },
    {
      flags: '--credential <name>',
      summary: "name of a credential that is in the fleet's data directory already",
      excludes: ['--token-file', '--token-env', '--ssh-key'],
    },
    { flags: '--replace', summary: 'replace a project of this name; what is not given again is not kept' },
    { flags: '--unseen', summary: 'add it without asking the remote, for one that is not there yet' },
  ],
  examples: [
    {
      command: 'flotilla project add slugify --remote /srv/git/slugify.git --check "npm test"',
      summary: 'a repository on this machine',
    },
    {
      command: 'flotilla project add api --remote https://git.example.com/acme/api.git --token-env GIT_TOKEN',
      summary: 'the token is written into the data directory of the fleet of this machine, never sent',
    },
    {
      command: 'flotilla project add api --remote git@git.example.com:acme/api.git --ssh-key ~/.ssh/fleet',
      summary: 'over ssh',
    },
  ],
  json: 'the answer of the call addProject',
  calls: ['addProject'],
  run: async (given, session) => {
    const { name, remote, branch, topology, check, unchecked, setup, credential, replace, unseen, ...secrets } =
      readGiven('project add', Given, given);
    const address = readRemoteAddress(remote, session.workingDirectory);
    const written = await writeCredential(name, address, secrets, session);
    const used = written?.name ?? credential;
    const api = await session.api();
    const answer = await api
      .call(AddProject, {
        name,
        remote: address.remote,
        checks: check,
        unchecked,
        replace,
        unseen,
        ...(branch === undefined ? {} : { branch }),
        ...(topology === undefined ? {} : { topology }),
        ...(setup === false ? { setup: [] } : Array.isArray(setup) ? { setup } : {}),
        ...(used === undefined ? {} : { credential: used }),
      })
      .catch(async (error: unknown) => {
        if (written?.replaces === true || isRefusal(error)) await written?.undo();
        if (written?.replaces === true && !isRefusal(error))
          session.note(`${name}: the credential that it had is back`);
        throw error;
      });
    await written?.keep();
    if (!answer.created && !replace && !session.json) session.note('it was there already');
    report(session, answer, () => renderProject(answer.project));
    if (!session.json) for (const each of answer.warnings) session.note(renderWarning(each, session));
    return exitCodes.done.code;
  },
};

/** Where no answer came, a new project may be there and need its credential; one that was there has the one that it had. */
function isRefusal(error: unknown): boolean {
  if (!(error instanceof FlotillaError)) return false;
  return ![errors.fleetUnreachable, errors.fleetAnswerUnreadable, errors.callTimedOut].some((each) => error.is(each));
}
