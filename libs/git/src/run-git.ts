import { performance } from 'node:perf_hooks';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { defaultProgramPath, gitEnvironment, type GitSetting } from './git-environment.ts';
import { runProgram, type ProgramEnd } from './run-program.ts';
import { scrubText } from './scrub-text.ts';

/** What a caller needs for a span or a metric. Holds no secret and no path of ours. */
export interface GitCommandTrace {
  /** The subcommand, for example `fetch`. */
  readonly command: string;
  /** Its arguments, scrubbed, at most 300 characters. */
  readonly summary: string;
  readonly durationMs: number;
  /** -1 when it was stopped. */
  readonly exitCode: number;
}

export interface GitCall {
  /** Subcommand and arguments. A ref, URL or path that came from outside stands after `--end-of-options` or `--`. */
  readonly args: readonly string[];
  /** Default: none, for the few commands that need no repository; git then finds none. */
  readonly gitDirectory?: string | undefined;
  readonly workTree?: string | undefined;
  readonly settings?: readonly GitSetting[] | undefined;
  readonly variables?: Readonly<Record<string, string>> | undefined;
  readonly input?: string | Uint8Array;
  /** Exit codes that are answers. Default: only 0. `any` leaves the judgement to the caller. */
  readonly accept?: readonly number[] | 'any';
  /** Default 60 000. */
  readonly timeLimitMs?: number | undefined;
  /** Default 64 MiB. */
  readonly outputLimitBytes?: number | undefined;
  /** What more output means. Default `refuse`: an error; `cut`: the answer is marked as cut. */
  readonly beyondOutputLimit?: 'refuse' | 'cut';
  readonly onOutput?: ((chunk: Buffer) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly keepOpen?: readonly number[] | undefined;
  readonly secrets?: readonly string[] | undefined;
}

export interface GitAnswer {
  readonly exitCode: number;
  readonly stdout: Buffer;
  /** Scrubbed. */
  readonly complaint: string;
  readonly cut: boolean;
}

export type RunGit = (call: GitCall) => Promise<GitAnswer>;

export interface GitOptions {
  /** PATH for git and its helpers. Default: the system's directories. */
  readonly programPath?: string | undefined;
  readonly onCommand?: ((trace: GitCommandTrace) => void) | undefined;
}

/**
 * Makes the one function through which git is driven: argument vector, explicit repository, an environment built from
 * nothing, limits on time and output. Throws gitMissing, gitTimedOut, gitOutputTooLarge, gitFailed, or the abort reason.
 */
export function createGit(options: GitOptions = {}): RunGit {
  const programPath = options.programPath ?? defaultProgramPath;
  return async (call) => {
    const started = performance.now();
    let exitCode = -1;
    try {
      const end = await startGit(call, programPath);
      exitCode = end.exitCode;
      return judgeEnd(call, end);
    } finally {
      const durationMs = performance.now() - started;
      options.onCommand?.({ command: commandName(call), summary: summaryOf(call), durationMs, exitCode });
    }
  };
}

const defaultTimeLimitMs = 60_000;
const defaultOutputLimitBytes = 64 * 1024 * 1024;

async function startGit(call: GitCall, programPath: string): Promise<ProgramEnd> {
  const place = [`--git-dir=${call.gitDirectory ?? '/dev/null'}`];
  if (call.workTree !== undefined) place.push(`--work-tree=${call.workTree}`);
  try {
    return await runProgram({
      command: 'git',
      args: [...place, ...call.args],
      environment: gitEnvironment({ programPath, settings: call.settings, variables: call.variables }),
      input: call.input ?? '',
      timeLimitMs: call.timeLimitMs ?? defaultTimeLimitMs,
      outputLimitBytes: call.outputLimitBytes ?? defaultOutputLimitBytes,
      signal: call.signal,
      keepOpen: call.keepOpen,
      onOutput: call.onOutput,
    });
  } catch (error) {
    if (error instanceof Error && 'syscall' in error && String(error.syscall).startsWith('spawn')) {
      throw new FlotillaError(errors.gitMissing, { reason: error.message }, { cause: error });
    }
    throw error;
  }
}

function judgeEnd(call: GitCall, end: ProgramEnd): GitAnswer {
  const command = commandName(call);
  if (end.cause === 'time-limit') {
    const seconds = (call.timeLimitMs ?? defaultTimeLimitMs) / 1000;
    throw new FlotillaError(errors.gitTimedOut, { command, seconds });
  }
  const cut = end.cause === 'output-limit';
  if (cut && call.beyondOutputLimit !== 'cut') {
    const limitBytes = call.outputLimitBytes ?? defaultOutputLimitBytes;
    throw new FlotillaError(errors.gitOutputTooLarge, { command, limitBytes });
  }
  const complaint = scrubText(end.stderr, { secrets: call.secrets, paths: pathsOf(call) });
  const accept = call.accept ?? [0];
  if (!cut && accept !== 'any' && !accept.includes(end.exitCode)) throw gitFailure(command, end.exitCode, complaint);
  return { exitCode: cut ? 0 : end.exitCode, stdout: end.stdout, complaint, cut };
}

/** The error for an exit code that is no answer. */
export function gitFailure(command: string, exitCode: number, complaint: string): FlotillaError {
  if (/No space left on device|Disk quota exceeded/.test(complaint)) return new FlotillaError(errors.mirrorDiskFull);
  return new FlotillaError(errors.gitFailed, { command, exitCode, reason: complaint || 'it said nothing' });
}

/** The subcommand of a call. */
export function commandName(call: Pick<GitCall, 'args'>): string {
  return call.args.find((argument) => !argument.startsWith('-')) ?? 'git';
}

function summaryOf(call: GitCall): string {
  return scrubText(call.args.join(' '), { secrets: call.secrets, paths: pathsOf(call) }).slice(0, 300);
}

function pathsOf(call: GitCall): readonly string[] {
  const paths = [
    call.gitDirectory,
    call.workTree,
    call.variables?.['GIT_INDEX_FILE'],
    call.variables?.['GIT_OBJECT_DIRECTORY'],
  ];
  return paths.filter((path) => path !== undefined);
}
