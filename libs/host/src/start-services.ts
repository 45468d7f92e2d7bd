import type { RunningService, StartOptions } from './start-service.ts';
import { startService } from './start-service.ts';
import { startHealthServer } from './health-server.ts';
import type { ServiceDefinition } from './service-definition.ts';
import { openSharedResources } from './shared-resources.ts';

/** What a process of several services calls itself. */
export const ALL_IN_ONE = 'all-in-one';

/**
 * Starts several services in one process, in the order given; the router comes first, since it makes the streams. Messages between
 * them still pass through the broker.
 */
export async function startServices(
  definitions: readonly ServiceDefinition[],
  { environment = process.env, bootLimitMs, output }: Omit<StartOptions, 'shared'> = {},
): Promise<RunningService> {
  const shared = await openSharedResources({
    definitions,
    environment,
    processName: ALL_IN_ONE,
    ...(bootLimitMs === undefined ? {} : { bootLimitMs }),
    ...(output === undefined ? {} : { output }),
  });
  const running: RunningService[] = [];
  const closers: (() => Promise<unknown>)[] = [
    () => shared.close(),
    () => Promise.all(running.map((service) => service.close())),
  ];
  const close = async (): Promise<void> => {
    for (const closer of closers.splice(0).toReversed()) await closer();
  };
  try {
    for (const definition of definitions) running.push(await startService(definition, { shared }));
    const checks = async () => {
      const results = await Promise.all(
        running.map(async (service, place) =>
          Object.entries(await service.checks()).map(
            ([check, holds]) => [`${definitions[place]?.name}.${check}`, holds] as const,
          ),
        ),
      );
      return Object.fromEntries(results.flat());
    };
    const signs = () =>
      Object.fromEntries(
        running.flatMap((service, place) =>
          Object.entries(service.signs()).map(([name, ms]) => [`${definitions[place]?.name}.${name}`, ms] as const),
        ),
      );
    const [first] = definitions;
    if (first === undefined) throw new RangeError('a process has at least one service');
    const { healthHost, healthPort } = shared.settingsOf(first.name);
    const health = await startHealthServer({ host: healthHost, port: healthPort, pid: process.pid, checks, signs });
    closers.push(() => health.close());
    shared.logger.info({ event: 'services_ready', port: health.port });
    return { port: health.port, checks, signs, close };
  } catch (error) {
    await close();
    throw error;
  }
}
