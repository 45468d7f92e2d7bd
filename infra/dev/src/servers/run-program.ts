import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Report } from '../report.ts';
import { takePort } from './free-port.ts';
import type { OwnProcess, OwnProcessOptions } from './own-process.ts';
import type { Passwords } from './passwords.ts';
import type { Program, ServerName } from './source.ts';

/** What it takes to run a server's program as our child. */
export interface RunProgram {
  readonly program: Program;
  readonly dataDirectory: string;
  readonly passwords: Passwords;
  /** Replaces the single user of NATS. */
  readonly natsAuthorization?: string | undefined;
  readonly report: Report;
  readonly signal?: AbortSignal | undefined;
}

export interface StartedServer extends OwnProcess {
  readonly url: string;
}

export type SharedOptions = Pick<OwnProcessOptions, 'name' | 'logPath' | 'signal' | 'onEnded'>;

const attempts = 3;
const longestPauseMs = 5_000;

/**
 * Starts a server on a free port; when somebody took the port in between, on another one. A server that ends without being
 * asked is started again on the same port, after a pause that grows to five seconds, until it is stopped.
 */
export async function startOnFreePort(
  name: ServerName,
  { dataDirectory, report, signal }: RunProgram,
  start: (port: number, shared: SharedOptions) => Promise<StartedServer>,
): Promise<StartedServer> {
  const logs = join(dataDirectory, 'logs');
  await mkdir(logs, { recursive: true, mode: 0o700 });
  const logPath = join(logs, `${name}.log`);
  const stopped = new AbortController();
  let current: StartedServer | undefined;
  let revival: Promise<void> = Promise.resolve();

  const launch = async (port: number, endings: number): Promise<StartedServer> => {
    const beganAt = performance.now();
    const onEnded = (how: string): void => {
      if (stopped.signal.aborted) return;
      const again = performance.now() - beganAt > longestPauseMs ? 0 : endings + 1;
      report.warn(name, `ended by itself (${how}) and is started again; its log is ${logPath}`);
      revival = revive(port, again);
    };
    return start(port, { name, logPath, signal, onEnded });
  };
  const revive = async (port: number, endings: number): Promise<void> => {
    for (let tries = endings; !stopped.signal.aborted; tries++) {
      await delay(Math.min(longestPauseMs, 100 * 2 ** tries), undefined, { signal: stopped.signal }).catch(
        () => undefined,
      );
      if (stopped.signal.aborted) return;
      try {
        current = await launch(port, tries);
        return;
      } catch (error) {
        report.warn(name, `could not be started again: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
  };

  for (let attempt = 1; ; attempt++) {
    try {
      const first = await launch(await takePort(join(dataDirectory, `${name}.port`)), 0);
      current = first;
      return {
        ...first,
        stop: async () => {
          stopped.abort();
          await revival;
          await current?.stop();
        },
      };
    } catch (error) {
      const taken = error instanceof Error && /address already in use/i.test(error.message);
      if (!taken || attempt === attempts) throw error;
    }
  }
}
