import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';

export interface CommandOptions {
  /** Default: this process's environment. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly directory?: string;
  readonly signal?: AbortSignal;
  /** Standard input. Default: none. */
  readonly input?: string;
  /** Called with each line of either stream as it arrives. */
  readonly onLine?: (line: string) => void;
  /** Takes the raw standard output instead of collecting it. */
  readonly takeOutput?: (output: Readable) => void;
}

export interface CommandResult {
  /** The exit code; 127 when there is no such command, 128 + n when signal n ended it. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const commandNotFound = 127;

/** Runs a command to its end. A failure is a result, never an exception; an aborted signal ends the command and throws its reason. */
export async function runCommand(
  command: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<CommandResult> {
  options.signal?.throwIfAborted();
  const result = await new Promise<CommandResult>((resolve) => {
    const child = spawn(command, [...args], {
      cwd: options.directory,
      env: options.environment === undefined ? process.env : { ...options.environment },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    // A command that ends without reading its input is no failure of ours.
    child.stdin.on('error', () => undefined);
    child.stdin.end(options.input);
    const end = (): boolean => child.kill('SIGTERM');
    options.signal?.addEventListener('abort', end, { once: true });

    const collected = { stdout: '', stderr: '' };
    if (options.takeOutput === undefined) collect(child.stdout, options.onLine, (text) => (collected.stdout += text));
    else options.takeOutput(child.stdout);
    collect(child.stderr, options.onLine, (text) => (collected.stderr += text));

    const finish = (code: number, stderr: string): void => {
      options.signal?.removeEventListener('abort', end);
      resolve({ code, stdout: collected.stdout, stderr });
    };
    child.on('error', (error) => finish(commandNotFound, error.message));
    child.on('close', (code) => finish(code ?? 128 + 15, collected.stderr));
  });
  options.signal?.throwIfAborted();
  return result;
}

function collect(stream: Readable, onLine: CommandOptions['onLine'], keep: (text: string) => void): void {
  let rest = '';
  stream.setEncoding('utf8');
  stream.on('data', (text: string) => {
    keep(text);
    if (onLine === undefined) return;
    const lines = (rest + text).split(/\r?\n/);
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.trim() !== '') onLine(line);
  });
}

/** The last lines that say something, for an error's reason. */
export function lastWords(result: CommandResult, lines = 3): string {
  const spoken = `${result.stdout}\n${result.stderr}`.split('\n').filter((line) => line.trim() !== '');
  return spoken.slice(-lines).join(' | ') || `exit code ${result.code}`;
}
