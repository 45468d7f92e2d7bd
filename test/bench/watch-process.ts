import { Agent, get } from 'node:http';
import { RunId } from '@flotilla/contracts/ids';
import { gatewayService } from '@flotilla/gateway/gateway.module';
import type { Resources } from '@flotilla/host/service-definition';
import { startServices } from '@flotilla/host/start-services';
import { routerService } from '@flotilla/router/router.module';
import { answerParent } from './child.ts';

/** A process of the watch bench: the fleet's gateway, a router that writes the log, or those who watch. */
const [role] = process.argv.slice(2);
const parts: Readonly<Record<string, () => Part>> = { gateway, writer, watchers };
const part = parts[role ?? '']?.();
if (part === undefined) throw new Error(`no such part: ${role}`);
answerParent(part.answer, part.close);

interface Part {
  readonly answer: (question: object) => Promise<object>;
  readonly close: () => Promise<void>;
}

type Environment = Readonly<Record<string, string>>;

function gateway(): Part {
  let services: Awaited<ReturnType<typeof startServices>> | undefined;
  return {
    answer: async (environment) => {
      services = await startServices([gatewayService], { environment: environment as Environment });
      return {};
    },
    close: async () => services?.close(),
  };
}

export interface Written {
  readonly sequence: number;
  /** When the commit was known, in milliseconds of the epoch. */
  readonly at: number;
}

const now = (): number => performance.timeOrigin + performance.now();

function writer(): Part {
  let services: Awaited<ReturnType<typeof startServices>> | undefined;
  let resources: Resources | undefined;
  const recording = {
    ...routerService,
    module: (given: Resources) => {
      resources = given;
      return routerService.module(given);
    },
  };
  return {
    answer: async (question) => {
      if (resources === undefined) {
        services = await startServices([recording], { environment: question as Environment });
        return {};
      }
      const { runId } = question as { readonly runId: string };
      const payload = { lane: 'bench', behind: 'nobody' };
      const sequence = await resources.store.transaction((transaction) =>
        transaction.appendLog(RunId.parse(runId), [{ type: 'turn.awaited', payload }]),
      );
      return { sequence, at: now() } satisfies Written;
    },
    close: async () => services?.close(),
  };
}

export interface WatchersToOpen {
  readonly url: string;
  readonly token: string;
  readonly runId: string;
  readonly count: number;
}

/** Opens watchers, then for each sequence asked for gives when each of them had it. */
function watchers(): Part {
  const arrivals = new Map<number, number[]>();
  const waiting = new Map<number, () => void>();
  const agent = new Agent({ keepAlive: true, maxSockets: Infinity });
  let count = 0;
  const note = (sequence: number): void => {
    const times = arrivals.get(sequence) ?? [];
    times.push(now());
    arrivals.set(sequence, times);
    if (times.length === count) waiting.get(sequence)?.();
  };
  return {
    answer: async (question) => {
      if ('url' in question) {
        const wanted = question as WatchersToOpen;
        for (let opened = 0; opened < wanted.count; opened += 50)
          await Promise.all(
            Array.from({ length: Math.min(50, wanted.count - opened) }, () => open(wanted, agent, note)),
          );
        count += wanted.count;
        return {};
      }
      const { sequence } = question as Written;
      if ((arrivals.get(sequence)?.length ?? 0) < count)
        await new Promise<void>((resolve) => waiting.set(sequence, resolve));
      return { times: arrivals.get(sequence) };
    },
    close: () => Promise.resolve(agent.destroy()),
  };
}

/** Resolves once the stream has begun. */
function open({ url, token, runId }: WatchersToOpen, agent: Agent, note: (sequence: number) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, accept: 'text/event-stream' };
    get(`${url}/v1/runs/${runId}/events`, { agent, headers }, (response) => {
      if (response.statusCode !== 200) return reject(new Error(`a watch was answered ${response.statusCode}`));
      let rest = '';
      response.setEncoding('utf8').on('data', (text: string) => {
        const frames = (rest + text).split('\n\n');
        rest = frames.pop() ?? '';
        for (const frame of frames) {
          const id = /^id: (\d+)/m.exec(frame)?.[1];
          if (id !== undefined) note(Number(id));
        }
      });
      resolve();
    }).on('error', reject);
  });
}
