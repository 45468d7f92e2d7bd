import { createInterface } from 'node:readline/promises';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { type ApiClient, createApiClient } from './client/api-client.ts';
import { type ExitCode, exitCodeOf, exitCodes } from './exit-codes.ts';
import { type Fleet, findFleet } from './fleet/find-fleet.ts';
import { readArguments } from './program.ts';
import type { Session } from './session.ts';
import { choosePalette, type Palette } from './text/paint.ts';
import { readCommandName } from './text/name-command.ts';
import { renderError } from './text/render-error.ts';
import type { Given } from './verb.ts';
import { verbs } from './verbs.ts';

/** What the command line needs of its process. */
export interface Terminal {
  readonly argv: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly workingDirectory: string;
  /** Where the command line itself lies. Default: nowhere that matters. */
  readonly programDirectory?: string;
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  readonly signal: AbortSignal;
  /** Ends the command as Ctrl-C does. */
  readonly interrupt: () => void;
  readonly now: () => Date;
  readonly version: string;
}

/** Runs one command and gives its exit code; throws nothing. */
export async function runCommandLine(terminal: Terminal): Promise<ExitCode> {
  const { argv, stdout, stderr, version } = terminal;
  const invocation = await readArguments(
    verbs,
    argv,
    version,
    readCommandName(terminal.environment),
    paletteOf(terminal),
    {
      out: (text) => void stdout.write(text),
      err: (text) => void stderr.write(text),
    },
  );
  if (typeof invocation === 'number') return invocation;
  const { verb, given } = invocation;
  const { session, close } = openSession(terminal, given);
  try {
    return await verb.run(given, session);
  } catch (error) {
    if (terminal.signal.aborted) return exitCodes.interrupted.code;
    return tellError(error, session);
  } finally {
    await close();
  }
}

function openSession(
  terminal: Terminal,
  given: Given,
): { readonly session: Session; readonly close: () => Promise<void> } {
  const { environment, workingDirectory, programDirectory, stdin, stdout, stderr, signal, now } = terminal;
  const text = (name: string) => (typeof given[name] === 'string' ? given[name] : undefined);
  let found: Promise<Fleet> | undefined;
  let api: Promise<ApiClient> | undefined;
  const fleet = () =>
    (found ??= findFleet({
      url: text('url'),
      tokenFile: text('fleetTokenFile'),
      environment,
      workingDirectory,
      programDirectory,
    }));
  const session: Session = {
    fleet,
    api: () => (api ??= fleet().then((access) => createApiClient(access, signal))),
    out: (line) => void stdout.write(`${line}\n`),
    write: (piece) => void stdout.write(piece),
    note: (line) => void stderr.write(`${line}\n`),
    isTerminal: stdout.isTTY && stdin.isTTY,
    columns: () => (stdout.isTTY ? stdout.columns : 120),
    palette: paletteOf(terminal),
    lines: () => createInterface({ input: stdin, crlfDelay: Infinity, signal }),
    ask: (question, stop = signal) => ask(terminal, question, stop),
    signal,
    environment,
    workingDirectory,
    command: readCommandName(environment),
    json: given['json'] === true,
    now,
  };
  return { session, close: async () => (await api?.catch(() => undefined))?.close() };
}

function paletteOf({ stdout, environment }: Terminal): Palette {
  return choosePalette(stdout.isTTY && (environment['NO_COLOR'] ?? '') === '' && environment['TERM'] !== 'dumb');
}

async function ask({ stdin, stdout, interrupt }: Terminal, question: string, signal: AbortSignal): Promise<string> {
  const lines = createInterface({ input: stdin, output: stdout });
  lines.once('SIGINT', interrupt);
  try {
    return await lines.question(question, { signal });
  } finally {
    lines.close();
  }
}

function tellError(error: unknown, session: Session): ExitCode {
  const told =
    error instanceof FlotillaError
      ? error
      : new FlotillaError(errors.failureUnforeseen, { reason: String(error) }, { cause: error });
  session.note(renderError(told, session));
  return exitCodeOf(told);
}
