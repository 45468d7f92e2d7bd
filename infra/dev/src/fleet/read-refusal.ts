import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError, type ErrorDefinition } from '@flotilla/errors/flotilla-error';

/**
 * SERVICE_CANNOT_START for the last line of a service whose own start failed with an error that only the operator can put
 * right; undefined for every other end, after which another start may succeed.
 */
export function readRefusal(service: string, lastLine: string): FlotillaError | undefined {
  const { level, event, code, reason, advice } = parseFields(lastLine);
  if (level !== 'fatal' || event !== 'start_failed') return undefined;
  const definition = Object.values<ErrorDefinition>(errors).find((each) => each.code === code);
  if (definition?.remedy !== 'operator') return undefined;
  return new FlotillaError(errors.serviceCannotStart, { service, cause: code, reason, remedy: advice });
}

function parseFields(line: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
