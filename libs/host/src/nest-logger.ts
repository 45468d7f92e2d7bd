import type { LoggerService } from '@nestjs/common';
import type { Logger } from './create-logger.ts';

/** What Nest says about itself, as events: its start-up lines at debug. */
export function createNestLogger(logger: Logger): LoggerService {
  const line = (message: unknown, rest: readonly unknown[]) => ({
    event: 'nest',
    text: String(message),
    context: String(rest.at(-1) ?? ''),
  });
  return {
    log: (message: unknown, ...rest: unknown[]) => logger.debug(line(message, rest)),
    debug: (message: unknown, ...rest: unknown[]) => logger.debug(line(message, rest)),
    verbose: (message: unknown, ...rest: unknown[]) => logger.trace(line(message, rest)),
    warn: (message: unknown, ...rest: unknown[]) => logger.warn(line(message, rest)),
    error: (message: unknown, ...rest: unknown[]) => logger.error(line(message, rest)),
    fatal: (message: unknown, ...rest: unknown[]) => logger.fatal(line(message, rest)),
  };
}
