import { JetStreamApiError, JetStreamError } from '@nats-io/jetstream';
import {
  AuthorizationError,
  ClosedConnectionError,
  ConnectionError,
  DrainingConnectionError,
  NoRespondersError,
  PermissionViolationError,
  RequestError,
  TimeoutError,
  UserAuthenticationExpiredError,
} from '@nats-io/transport-node';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';

const refused = [PermissionViolationError, AuthorizationError, UserAuthenticationExpiredError];
const lost = [
  ClosedConnectionError,
  DrainingConnectionError,
  ConnectionError,
  TimeoutError,
  NoRespondersError,
  RequestError,
];

/** Turns the client's errors into ours where the broker is lost or refuses this user; everything else stays what it is. */
export function translateError(error: unknown): unknown {
  if (error instanceof FlotillaError || !(error instanceof Error)) return error;
  const chain = causesOf(error);
  const refusal = chain.find((cause) => refused.some((kind) => cause instanceof kind));
  if (refusal !== undefined)
    return new FlotillaError(errors.brokerRefused, { reason: refusal.message }, { cause: error });
  if (chain.some(isLoss)) {
    return new FlotillaError(errors.brokerUnavailable, { reason: error.message }, { cause: error });
  }
  return error;
}

/** Runs work whose failures may come from the client. */
export async function translating<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw translateError(error);
  }
}

function isLoss(error: Error): boolean {
  if (lost.some((kind) => error instanceof kind)) return true;
  if (error instanceof JetStreamApiError) return error.status === 503;
  return (
    error instanceof JetStreamError && /not enabled|temporarily unavailable|heartbeats missed/i.test(error.message)
  );
}

function causesOf(error: Error): readonly Error[] {
  const chain: Error[] = [];
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) chain.push(cause);
  return chain;
}
