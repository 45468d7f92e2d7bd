import { RemoveProject } from '@flotilla/contracts/calls/remove-project';
import { z } from 'zod';
import { exitCodes } from '../exit-codes.ts';
import { tellFleet } from '../fleet/tell-fleet.ts';
import { report } from '../session.ts';
import { readGiven, type Verb } from '../verb.ts';
import { removeCredential } from './credential-file.ts';

export const removeProject: Verb = {
  name: 'project remove',
  summary: 'remove a project and free its name; its runs and their logs stay',
  arguments: [{ name: 'name', summary: 'name of the project' }],
  options: [],
  examples: [
    {
      command: 'flotilla project remove slugify',
      summary: "refused while a run has not ended; the token's file that project add wrote goes too",
    },
  ],
  json: 'the answer of the call removeProject',
  calls: ['removeProject'],
  run: async (given, session) => {
    const { name } = readGiven('project remove', z.object({ name: z.string() }), given);
    await tellFleet(session);
    const answer = await (await session.api()).call(RemoveProject, { name });
    const { project, credentialUsed } = answer;
    const file = project.credential === name && !credentialUsed ? await removeCredential(name, session) : undefined;
    report(session, answer, () => `removed ${name}; its runs stay`);
    if (file !== undefined && !session.json) session.note(`its credential ${file} is removed`);
    else if (project.credential !== undefined && !session.json)
      session.note(`its credential ${project.credential} stays in the fleet's data directory`);
    return exitCodes.done.code;
  },
};
