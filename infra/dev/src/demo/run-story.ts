import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fleetErrors } from '@flotilla/errors/catalogue/fleet';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { endWithParent } from '../end-with-parent.ts';
import { repositoryDirectory } from '../repository.ts';
import { approveWhenAsked } from './approve-when-asked.ts';
import type { KeptFleet } from './keeper-messages.ts';
import { publishTask } from './publish-task.ts';
import { libraryGoal } from './scratch-library.ts';
import { scratchBranch, scratchGit } from './scratch-remote.ts';

export interface StoryOptions {
  readonly fleet: KeptFleet;
  /** Path of the bare repository that receives the change. */
  readonly remote: string;
  /** Whether a person is there to be asked at the gate. */
  readonly interactive: boolean;
  readonly signal: AbortSignal;
  readonly say: (text: string) => void;
}

const projectName = 'color-convert';

/** Adds the project, publishes the task on the queue, shows the run until it has ended, and what came of it. Gives the exit code. */
export async function runStory(options: StoryOptions): Promise<number> {
  const { fleet, remote, interactive, say } = options;
  await flotilla(options, ['project', 'add', projectName, '--remote', remote, '--replace'], 'quiet');
  const runId = await publishTask(fleet.brokerUrl, { goal: libraryGoal, project: projectName as never });
  say(`published on flotilla.tasks.submitted; it became ${runId}`);
  if (!interactive) say('no terminal to ask on: the gate will be approved for the local user, and the log says so');

  const code = await watch(options, runId);
  say('\nThe diff:\n');
  await flotilla(options, ['diff', runId], 'shown');
  say(`\nThe branch ${scratchBranch} of the remote, read back with git:\n`);
  say(
    await scratchGit(remote, ['log', '--max-count=3', '--stat', '--format=%H%n  %an, %s%n%w(0,2,2)%b', scratchBranch]),
  );
  say('\nThe run:\n');
  await flotilla(options, ['show', runId], 'shown');
  return code;
}

/** Shows the run live. The command asks at the gate where a person is there; otherwise the gate is approved from here. */
async function watch(options: StoryOptions, runId: string): Promise<number> {
  if (options.interactive) return flotilla(options, ['watch', runId], 'shown');
  const ended = new AbortController();
  const approving = approveWhenAsked(options.fleet, runId, AbortSignal.any([options.signal, ended.signal]));
  const code = await flotilla(options, ['watch', runId, '--no-ask'], 'shown');
  ended.abort();
  await approving;
  return code;
}

/** Runs the command line as a person would, against this fleet. `quiet` fails the demo when the command fails. */
async function flotilla(
  { fleet, signal }: StoryOptions,
  args: readonly string[],
  how: 'shown' | 'quiet',
): Promise<number> {
  signal.throwIfAborted();
  const command = join(repositoryDirectory, 'services/cli/bin/flotilla.mjs');
  const wrap = await endWithParent(process.env);
  const [program, ...options] = wrap(process.execPath, command, ...args);
  const child = spawn(program, options, {
    env: { ...process.env, FLOTILLA_URL: fleet.url, FLOTILLA_TOKEN: fleet.token },
    stdio: how === 'shown' ? 'inherit' : ['ignore', 'ignore', 'pipe'],
  });
  let words = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (words += text));
  const end = (): boolean => child.kill('SIGINT');
  signal.addEventListener('abort', end, { once: true });
  const code = await new Promise<number>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (exitCode) => resolve(exitCode ?? 1));
  });
  signal.removeEventListener('abort', end);
  signal.throwIfAborted();
  if (how === 'quiet' && code !== 0)
    throw new FlotillaError(fleetErrors.commandFailed, { command: `flotilla ${args[0] ?? ''}`, reason: words.trim() });
  return code;
}
