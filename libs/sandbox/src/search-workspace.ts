import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import type { Command } from './command.ts';
import type { ContainedFiles } from './contained-files.ts';
import { showName } from './contained-path.ts';

export interface GlobOptions {
  /** Directory or file to look in. Default: the workspace. */
  readonly path?: string;
  /** Default: 1000. */
  readonly limit?: number;
  readonly signal?: AbortSignal;
}

export interface GrepOptions extends GlobOptions {
  /** Which files to look in, as in `glob`. */
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
  /**
   * Files whose workspace-relative path matches; a pattern without a slash matches a name at any depth. Sorted;
   * `truncated` when there are more, or the search was cut short.
   */
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
const everywhere = ['--sort', 'path', '--no-config', '--hidden', '--no-require-git', '--no-messages'];
/** Last, because the last glob that matches decides. */
const withoutGit = ['--glob', '!.git'];

export function createWorkspaceSearch(files: ContainedFiles, collect: Collect): WorkspaceSearch {
  return {
    async glob(pattern, { path = '.', limit = 1000, signal } = {}) {
      const argv = ['--files', '--null', '--glob', checked(pattern), ...withoutGit, '--', target(path)];
      const { stdout, killedBy } = await search(argv, signal);
      const names = splitAtNul(stdout);
      const paths = names.slice(0, limit).map(shown);
      return { paths, truncated: names.length > limit || killedBy !== undefined };
    },
    async grep(pattern, { path = '.', limit = 1000, signal, ...options } = {}) {
      const flags = ['--json', '--max-filesize', largestFile, ...grepFlags(options), ...withoutGit];
      const { stdout, killedBy } = await search([...flags, '-e', checked(pattern), '--', target(path)], signal);
      const lines = parseLines(stdout);
      return { lines: lines.slice(0, limit), truncated: lines.length > limit || killedBy !== undefined };
    },
  };

  async function search(argv: readonly string[], signal: AbortSignal | undefined): Promise<Collected> {
    const command = { argv: ['rg', ...everywhere, ...argv] };
    const result = await collect(command, { cwd: '.', timeoutMs, limitBytes, ...(signal && { signal }) });
    if (result.killedBy === undefined && result.exitCode >= exitCodeOfError && result.stderr !== '') {
      throw new FlotillaError(errors.searchRefused, { reason: result.stderr.trim().slice(0, 500) });
    }
    return result;
  }

  /** A name that is no option and no link. */
  function target(path: string): string {
    const facts = files.stat(path);
    if (facts === undefined) throw new FlotillaError(errors.fileMissing, { path });
    return `./${facts.path === '.' ? '' : facts.path}`;
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

function parseLines(stdout: Uint8Array): readonly GrepLine[] {
  // A search that was cut short ends in the middle of a line.
  const whole = Buffer.from(stdout).toString().split('\n').slice(0, -1);
  return whole.flatMap((json) => {
    const { type, data } = JSON.parse(json);
    if (type !== 'match' && type !== 'context') return [];
    const text = textOf(data.lines).replace(/\r?\n$/, '');
    return [
      {
        path: shown(textOf(data.path)),
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

function shown(name: string): string {
  return showName(name.replace(/^\.\//, ''));
}

function checked(pattern: string): string {
  if (pattern !== '' && pattern.length <= longestPattern) return pattern;
  throw new FlotillaError(errors.searchRefused, { reason: 'the pattern is empty or too long' });
}
