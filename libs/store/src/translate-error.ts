import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';

const connectionErrors = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
]);

/** Server shut down or starting, too many connections, and every class 08 (connection exception). */
const unavailableStates = /^(08...|57P0[1-5]|53300|53400)$/;
/** Serialisation failure, deadlock, lock not available. */
const contendedStates = /^(40001|40P01|55P03)$/;
const unavailableTexts =
  /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Cannot use a pool after calling end|driver has already been destroyed|server closed the connection/i;

/** Turns a driver's error into one of ours where Postgres is lost or busy; everything else stays what it is. */
export function translateError(error: unknown): unknown {
  if (error instanceof FlotillaError || !(error instanceof Error)) return error;
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    const code = codeOf(cause);
    if (connectionErrors.has(code) || unavailableStates.test(code) || unavailableTexts.test(cause.message)) {
      return new FlotillaError(errors.storeUnavailable, { reason: reasonOf(cause) }, { cause: error });
    }
    if (contendedStates.test(code)) {
      return new FlotillaError(errors.storeContended, { reason: cause.message }, { cause: error });
    }
  }
  return error;
}

/** Runs work whose failures may come from the driver. */
export async function translating<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw translateError(error);
  }
}

function codeOf(error: Error): string {
  const code: unknown = 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : '';
}

function reasonOf(error: Error): string {
  return error.message === '' ? codeOf(error) : error.message;
}
