import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import type { Command } from './command.ts';
import type { ContainedFiles } from './contained-files.ts';
import { showName } from './contained-path.ts';

export interface GlobOptions {
  /** Directory to look in. Default: the workspace. */
  readonly path?: string;
  /** Default: 1000. */
  readonly limit?: number;
  readonly signal?: AbortSignal;
}

export interface GrepOptions extends GlobOptions {
  /** Which files to look in. */
  readonly glob?: string;
  /** Take the pattern as plain text. */
  readonly fixed?: boolean;
  readonly ignoreCase?: boolean;
  /** Lines shown before and after. Default: 0. */
  readonly contextLines?: number;
}

export interface GrepLine {
  readonly path: string;
  readonly line: number;
  /** At most 500 characters. */
  readonly text: string;
  readonly match: boolean;
}

/**
 * Searches of the workspace, done by ripgrep inside the container: its patterns take linear time, links are not followed, and
 * whatever a tree does to it, it does to the container and for 20 s at most. Ignored files and git's directory are left out.
 * Throws SEARCH_REFUSED for a pattern that is none.
 */
export interface WorkspaceSearch {
  /** Paths of files, sorted; `truncated` when there are more, or the search was cut short. */
  glob(
    pattern: string,
    options?: GlobOptions,
  ): Promise<{ readonly paths: readonly string[]; readonly truncated: boolean }>;
  grep(
    pattern: string,
    options?: GrepOptions,
  ): Promise<{ readonly lines: readonly GrepLine[]; readonly truncated: boolean }>;
}

/** As the slot's own; a part of it, so that the two files need not know each other. */
type Collect = (
  command: Command,
  options: {
    readonly cwd: string;
    readonly timeoutMs: number;
    readonly limitBytes: number;
    readonly signal?: AbortSignal;
  },
) => Promise<Collected>;

interface Collected {
  readonly exitCode: number;
  readonly stdout: Uint8Array;
  readonly stderr: string;
  readonly killedBy: string | undefined;
}

const timeoutMs = 20_000;
const limitBytes = 8 * 1024 ** 2;
const largestFile = '4M';
const longestLine = 500;
const longestPattern = 4096;
/** ripgrep's exit codes: 0 found, 1 nothing found, 2 an error, which may be only one unreadable file. */
const exitCodeOfError = 2;
const everywhere = ['--no-config', '--hidden', '--no-require-git', '--no-messages'];
/** Last, because the last glob that matches decides. */
const withoutGit = ['--glob', '!.git'];

export function createWorkspaceSearch(files: ContainedFiles, collect: Collect): WorkspaceSearch {
  return {
    async glob(pattern, { path = '.', limit = 1000, signal } = {}) {
      refuseLong(pattern);
      const argv = [
        'rg',
        '--files',
        '--null',
        '--sort',
        'path',
        ...everywhere,
        '--glob',
        pattern,
        ...withoutGit,
        '--',
        './',
      ];
      const result = await search(argv, path, signal);
      const names = splitAtNul(result.stdout);
      const paths = names.slice(0, limit).map((name) => showName(below(files.resolve(path), name)));
      return { paths, truncated: names.length > limit || result.killedBy !== undefined };
    },
    async grep(pattern, { path = '.', limit = 1000, signal, ...options } = {}) {
      refuseLong(pattern);
      const argv = [
        'rg',
        '--json',
        '--sort',
        'path',
        '--max-filesize',
        largestFile,
        ...everywhere,
        ...grepFlags(options),
        ...withoutGit,
      ];
      const result = await search([...argv, '-e', pattern, '--', ...grepTarget(path)], grepDirectory(path), signal);
      const lines = parseLines(result.stdout, files.resolve(grepDirectory(path)));
      return { lines: lines.slice(0, limit), truncated: lines.length > limit || result.killedBy !== undefined };
    },
  };

  async function search(argv: readonly string[], cwd: string, signal: AbortSignal | undefined): Promise<Collected> {
    const result = await collect({ argv }, { cwd, timeoutMs, limitBytes, ...(signal && { signal }) });
    if (result.killedBy === undefined && result.exitCode >= exitCodeOfError && result.stderr !== '') {
      throw new FlotillaError(errors.searchRefused, { reason: result.stderr.trim().slice(0, 500) });
    }
    return result;
  }

  /** ripgrep is given a directory to stand in, and a file by a name that is no option and no link. */
  function grepTarget(path: string): readonly string[] {
    const facts = files.stat(path);
    return facts?.kind === 'file' ? [`./${facts.path.split('/').at(-1)}`] : ['./'];
  }

  function grepDirectory(path: string): string {
    const facts = files.stat(path);
    if (facts?.kind !== 'file') return path;
    return facts.path.split('/').slice(0, -1).join('/') || '.';
  }
}

function grepFlags({ glob, fixed, ignoreCase, contextLines = 0 }: GrepOptions): readonly string[] {
  return [
    ...(glob === undefined ? [] : ['--glob', glob]),
    ...(fixed ? ['--fixed-strings'] : []),
    ...(ignoreCase ? ['--ignore-case'] : []),
    '--context',
    String(Math.min(20, Math.max(0, Math.trunc(contextLines)))),
  ];
}

function parseLines(stdout: Uint8Array, directory: string): readonly GrepLine[] {
  // A search that was cut short ends in the middle of a line.
  const whole = Buffer.from(stdout).toString().split('\n').slice(0, -1);
  return whole.flatMap((json) => {
    const { type, data } = JSON.parse(json);
    if (type !== 'match' && type !== 'context') return [];
    const text = textOf(data.lines).replace(/\r?\n$/, '');
    return [
      {
        path: showName(below(directory, textOf(data.path))),
        line: Number(data.line_number),
        text: text.length > longestLine ? `${text.slice(0, longestLine)}…` : text,
        match: type === 'match',
      },
    ];
  });
}

/** ripgrep writes what is not UTF-8 as base64. */
function textOf(value: { readonly text?: string; readonly bytes?: string }): string {
  return value.text ?? Buffer.from(value.bytes ?? '', 'base64').toString();
}

function splitAtNul(bytes: Uint8Array): readonly string[] {
  return Buffer.from(bytes).toString().split('\0').slice(0, -1);
}

function below(directory: string, name: string): string {
  const relative = name.replace(/^\.\//, '');
  return directory === '.' ? relative : `${directory}/${relative}`;
}

function refuseLong(pattern: string): void {
  if (pattern === '' || pattern.length > longestPattern) {
    throw new FlotillaError(errors.searchRefused, { reason: 'the pattern is empty or too long' });
  }
}
