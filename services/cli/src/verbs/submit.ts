import { SubmitTask } from '@flotilla/contracts/calls/submit-task';
import { z } from 'zod';
import { exitCodes } from '../exit-codes.ts';
import { report } from '../session.ts';
import { renderWarning } from '../text/render-warning.ts';
import { readGiven, type Verb } from '../verb.ts';
import { oneOf } from './one-of.ts';
import { showWatch } from '../watch/show-watch.ts';

const Given = z.object({
  goal: z.string().trim().min(1, 'say what is wanted'),
  project: z.string({ error: 'name the project with --project NAME' }),
  topology: z.string().optional(),
  branch: z.string().optional(),
  mode: oneOf(['normal', 'auto', 'plan']).optional(),
  key: z.string().optional(),
  setup: z.boolean().default(true),
  watch: z.boolean().default(false),
  ask: z.boolean().default(true),
  untilGate: z.boolean().default(false),
});

export const submit: Verb = {
  name: 'submit',
  summary: 'give the fleet a task',
  arguments: [{ name: 'goal', summary: 'what is wanted, in words' }],
  options: [
    { flags: '-p, --project <name>', summary: 'project the task is for' },
    { flags: '-w, --watch', summary: 'show the run until it has ended; the exit code is the result' },
    { flags: '--topology <id>', summary: "policy of the run; default: the project's" },
    { flags: '--branch <name>', summary: "branch that receives the change; default: the project's" },
    { flags: '--mode <mode>', summary: 'normal, auto or plan; may only restrict what the installation allows' },
    { flags: '--key <key>', summary: 'key of yours: the same key gives the same run back, for ever' },
    { flags: '--no-setup', summary: 'do not install dependencies' },
    { flags: '--no-ask', summary: 'with --watch: wait at the gate without asking' },
    {
      flags: '--until-gate',
      summary: 'with --watch: end at a gate that is open, with exit code 6, in the place of asking or waiting',
      excludes: ['--no-ask'],
    },
  ],
  examples: [
    {
      command: 'flotilla submit --project slugify "Make slugify keep digits."',
      summary: 'submit, and print the run id',
    },
    {
      command: 'flotilla submit -p slugify -w "Make slugify keep digits."',
      summary: 'submit, watch, and decide at the gate',
    },
    { command: 'flotilla submit -p slugify --key ticket-4711 "$(cat ticket.txt)"', summary: 'safe to repeat' },
  ],
  json: 'the answer of the call submitTask; with --watch what watch prints',
  calls: ['submitTask', 'watchRun'],
  run: async (given, session) => {
    const { goal, project, topology, branch, mode, key, setup, watch, ask, untilGate } = readGiven(
      'submit',
      Given,
      given,
    );
    const submitted = await (
      await session.api()
    ).call(SubmitTask, {
      goal,
      project,
      ...(topology === undefined ? {} : { topology }),
      ...(branch === undefined ? {} : { branch }),
      ...(mode === undefined ? {} : { mode }),
      ...(key === undefined ? {} : { externalKey: key }),
      ...(setup ? {} : { setup }),
    });
    const { runId, created } = submitted;
    if (!session.json) for (const each of submitted.warnings) session.note(renderWarning(each, session));
    if (!created && !session.json) session.note(`the key ${key ?? ''} has this run already`);
    if (!watch) {
      report(session, submitted, () => runId);
      return exitCodes.done.code;
    }
    if (!session.json) session.note(runId);
    return showWatch({ runId, ask, untilGate }, session);
  },
};
