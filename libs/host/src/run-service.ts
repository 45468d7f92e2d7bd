import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { secretsOf } from './read-settings.ts';
import { createRedactor } from './redact-secrets.ts';
import type { ServiceDefinition } from './service-definition.ts';
import { type RunningService, startService } from './start-service.ts';
import { ALL_IN_ONE, startServices } from './start-services.ts';

/** The whole life of a service's process: start, run until SIGTERM or SIGINT, drain, end with 0. A second signal ends it at once. */
export function runService(definition: ServiceDefinition): Promise<void> {
  return runUntilSignalled(definition.name, () => startService(definition));
}

/** The same for several services in one process. */
export function runServices(definitions: readonly ServiceDefinition[]): Promise<void> {
  return runUntilSignalled(ALL_IN_ONE, () => startServices(definitions));
}

async function runUntilSignalled(name: string, start: () => Promise<RunningService>): Promise<void> {
  const signalled = Promise.withResolvers<undefined>();
  let signals = 0;
  const onSignal = (): void => {
    signals += 1;
    if (signals > 1) process.exit(130);
    signalled.resolve(undefined);
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  process.on('unhandledRejection', (error) => fail(name, 'unhandled_rejection', error));
  process.on('uncaughtException', (error) => fail(name, 'uncaught_exception', error));
  try {
    const running = await start();
    await signalled.promise;
    await running.close();
    process.exit(0);
  } catch (error) {
    fail(name, 'start_failed', error);
  }
}

/** Whoever supervises the process starts it again; a message under way comes back to a fresh one. */
function fail(service: string, event: string, error: unknown): never {
  const told =
    error instanceof FlotillaError
      ? { code: error.code, reason: error.message, advice: error.advice }
      : { reason: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  const line = JSON.stringify({ level: 'fatal', time: new Date().toISOString(), service, event, ...told });
  process.stderr.write(`${createRedactor(secretsOf(process.env))(line)}\n`);
  process.exit(1);
}
