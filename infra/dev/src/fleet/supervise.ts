import { fleetErrors } from '@flotilla/errors/catalogue/fleet';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import type { Report } from '../report.ts';
import { readRefusal } from './read-refusal.ts';
import { ServiceProcess, type ServiceProcessOptions } from './service-process.ts';

export interface SupervisedService extends Omit<ServiceProcessOptions, 'onEnded'> {
  /** Answers 200 when the service can work, with the id of the process that answers. */
  readonly readyUrl: string;
}

export interface SuperviseOptions {
  readonly services: readonly SupervisedService[];
  readonly report: Report;
  readonly signal: AbortSignal;
  /** How long a service may take to become ready. Default: 120 s. */
  readonly readyWithinMs?: number;
  /**
   * Called when a service is given up: it ended more than five times within a minute (SERVICE_KEEPS_ENDING), or before it was
   * ever ready for something that only the operator can put right (SERVICE_CANNOT_START, for the first one alone).
   */
  readonly onGivenUp: (error: FlotillaError) => void;
}

/** The running services. A service that ends unasked is started again after a pause that grows to 5 s. */
export interface Supervised {
  readonly processes: ReadonlyMap<string, ServiceProcess>;
  ready(): Promise<void>;
  /** Stops in the order given, all of one group side by side. */
  stop(): Promise<void>;
}

const givesUpAfter = 5;
const windowMs = 60_000;

export function supervise(options: SuperviseOptions): Supervised {
  const processes = new Map<string, ServiceProcess>();
  const timers = new Set<NodeJS.Timeout>();
  const everReady = new Set<string>();
  let stopping = false;
  let refused = false;

  for (const service of options.services) {
    const endings: number[] = [];
    const restart = (how: string, lastLine: string): void => {
      if (stopping || refused) return;
      const refusal = everReady.has(service.name) ? undefined : readRefusal(service.name, lastLine);
      if (refusal !== undefined) {
        refused = true;
        options.onGivenUp(refusal);
        return;
      }
      const now = performance.now();
      endings.push(now);
      const recent = endings.filter((at) => now - at < windowMs).length;
      if (recent > givesUpAfter) {
        options.onGivenUp(
          new FlotillaError(fleetErrors.serviceKeepsEnding, {
            service: service.name,
            times: recent,
            how,
            log: service.logFile,
          }),
        );
        return;
      }
      const pauseMs = Math.min(5_000, 100 * 2 ** recent);
      options.report.warn(service.name, `ended (${how}); started again in ${pauseMs} ms`);
      const timer = setTimeout(() => {
        timers.delete(timer);
        if (!stopping && !refused) process.start();
      }, pauseMs);
      timers.add(timer);
    };
    const process = new ServiceProcess({ ...service, onEnded: restart });
    processes.set(service.name, process);
    process.start();
  }

  return {
    processes,
    ready: async () => {
      await Promise.all(
        options.services.map(async (service) => {
          await waitUntilReady(service, () => processes.get(service.name)?.pid, options);
          everReady.add(service.name);
        }),
      );
    },
    stop: async () => {
      stopping = true;
      for (const timer of timers) clearTimeout(timer);
      await Promise.all([...processes.values()].map((process) => process.stop()));
      for (const process of processes.values()) process.close();
    },
  };
}

const pollMs = 100;

/** Polls the service's readiness, where another program's answer does not count; throws SERVICE_NOT_READY with what it last said. */
async function waitUntilReady(
  service: SupervisedService,
  pidOf: () => number | undefined,
  { signal, readyWithinMs = 120_000 }: SuperviseOptions,
): Promise<void> {
  const deadline = performance.now() + readyWithinMs;
  let reason = 'no answer';
  while (performance.now() < deadline) {
    signal.throwIfAborted();
    try {
      const response = await fetch(service.readyUrl, { signal: AbortSignal.timeout(2_000) });
      const answer = await response.text();
      const ours = readPid(answer) === pidOf();
      if (response.ok && ours) return;
      reason = ours ? answer.slice(0, 500) : 'another program answers on its port';
    } catch (error) {
      reason = error instanceof Error ? error.message : String(error);
    }
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
  throw new FlotillaError(fleetErrors.serviceNotReady, {
    service: service.name,
    seconds: readyWithinMs / 1_000,
    reason,
    log: service.logFile,
  });
}

function readPid(answer: string): unknown {
  try {
    const value: unknown = JSON.parse(answer);
    return typeof value === 'object' && value !== null && 'pid' in value ? value.pid : null;
  } catch {
    return null;
  }
}
