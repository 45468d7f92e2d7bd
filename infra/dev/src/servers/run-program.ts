import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
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

/** Starts a server on a free port; when somebody took the port in between, on another one. */
export async function startOnFreePort(
  name: ServerName,
  { dataDirectory, report, signal }: RunProgram,
  start: (port: number, shared: SharedOptions) => Promise<StartedServer>,
): Promise<StartedServer> {
  const logs = join(dataDirectory, 'logs');
  await mkdir(logs, { recursive: true });
  const logPath = join(logs, `${name}.log`);
  const onEnded = (how: string): void => report.say(name, `ended by itself (${how}); its log is ${logPath}`);
  for (let attempt = 1; ; attempt++) {
    try {
      return await start(await takePort(join(dataDirectory, `${name}.port`)), { name, logPath, signal, onEnded });
    } catch (error) {
      const taken = error instanceof Error && /address already in use/i.test(error.message);
      if (!taken || attempt === attempts) throw error;
    }
  }
}
