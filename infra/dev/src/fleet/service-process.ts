import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { LogFile } from './log-file.ts';

export interface ServiceProcessOptions {
  readonly name: string;
  /** Command and arguments; the service ends with its parent, whatever ends that. */
  readonly command: readonly [string, ...string[]];
  readonly environment: Readonly<Record<string, string>>;
  readonly logFile: string;
  /** Called with each line the service prints. */
  readonly onLine?: (line: string) => void;
  /** Called when the process ended without being asked to, with the last line of its standard error. Default: nothing. */
  readonly onEnded?: (how: string, lastLine: string) => void;
}

const stopGraceMs = 15_000;
/** How long the last words of a process that is gone may take: a child of it may hold the pipe open. */
const lastWordsMs = 500;

/** One running service of the fleet and its log file. */
export class ServiceProcess {
  readonly name: string;
  readonly logFile: string;
  readonly #options: ServiceProcessOptions;
  readonly #log: LogFile;
  #child: ChildProcess | undefined;
  #asked = false;

  constructor(options: ServiceProcessOptions) {
    this.name = options.name;
    this.logFile = options.logFile;
    this.#options = options;
    this.#log = new LogFile(options.logFile);
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  start(): void {
    const { command, environment } = this.#options;
    const [program, ...args] = command;
    this.#asked = false;
    // In a session of its own: a Ctrl-C reaches the supervisor alone, which then stops the services in order.
    const child = spawn(program, args, { env: { ...environment }, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    this.#child = child;
    let lastLine = '';
    const drained = once(child, 'close').catch(() => undefined);
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', (line) => {
        if (stream === child.stderr) lastLine = line;
        this.#log.write(line);
        this.#options.onLine?.(line);
      });
    }
    const ended = async (how: string): Promise<void> => {
      if (child !== this.#child) return;
      this.#child = undefined;
      if (this.#asked) return;
      await Promise.race([drained, new Promise((resolve) => setTimeout(resolve, lastWordsMs))]);
      this.#options.onEnded?.(how, lastLine);
    };
    child.on('error', (error) => void ended(error.message));
    child.on('exit', (code, signal) => void ended(signal ?? `exit code ${code ?? '?'}`));
  }

  /** Ends the process at once, as a crash would, and waits until it is gone. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** Asks the process to drain and end; after 15 s it is ended. */
  async stop(): Promise<void> {
    await this.#end('SIGTERM');
  }

  close(): void {
    this.#log.close();
  }

  async #end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    this.#asked = true;
    const gone = once(child, 'exit');
    child.kill(signal);
    const timer = setTimeout(() => child.kill('SIGKILL'), stopGraceMs);
    await gone;
    clearTimeout(timer);
  }
}
