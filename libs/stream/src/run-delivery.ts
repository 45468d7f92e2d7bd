import type { JsMsg } from '@nats-io/jetstream';
import { headers as headerNames } from '@flotilla/contracts/headers';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { classify, decideSettlement, type Settlement } from './decide-settlement.ts';
import type { Arrival, Claim, DeliveryGuard, DeliveryObserver } from './delivery-guard.ts';
import { keepAlive } from './keep-alive.ts';
import { type Envelope, readEnvelope, readPayload } from './read-arrival.ts';
import { rejectOn } from './reject-on.ts';
import type { Delivery, Handler, Stage } from './stage.ts';
import { writeDeadLetter } from './write-dead-letter.ts';

export interface DeliveryPorts {
  readonly guard: DeliveryGuard;
  readonly observer: DeliveryObserver;
  readonly heartbeatMs: number;
  readonly leaseMs: number;
  readonly clock: () => Date;
  readonly monotonicMs: () => number;
}

/** How a process that stops reaches the deliveries under way. */
export interface Shutdown {
  /** Asks handlers to end. */
  readonly signal: AbortSignal;
  /** Aborted once they are not waited for any longer. */
  readonly given: AbortSignal;
}

/** A delivery that could not begin, most often for a lease that a dead process still holds, comes again so soon. */
const beginRetryMs = (delivery: number): number => (delivery < 20 ? 1_000 : 5_000);
const buryRetryMs = 3_000;

/** One delivery from its arrival to its settlement. Never throws. */
export async function runDelivery(
  ports: DeliveryPorts,
  stage: Stage,
  handler: Handler<unknown>,
  message: JsMsg,
  shutdown: Shutdown,
): Promise<void> {
  const envelope = readEnvelope(message, stage.contract);
  const startedAt = ports.monotonicMs();
  const read = readMessage(envelope, stage);
  const { messageId, subject, headers, delivery } = envelope;
  const waitedMs = delivery === 1 ? Math.max(0, ports.clock().getTime() - envelope.at.getTime()) : undefined;
  const told = { stage: stage.contract.name, messageId, subject, headers, delivery, waitedMs, message: read.message };
  await ports.observer.around(told, async () => {
    const settlement = await settleDelivery(ports, stage, handler, { message, envelope, read }, shutdown).catch(
      (error) => {
        ports.observer.troubled('delivery_unsettled', error, stage.contract.name);
        return undefined;
      },
    );
    if (settlement === undefined) return;
    const durationMs = ports.monotonicMs() - startedAt;
    ports.observer.settled({ stage: stage.contract.name, messageId, delivery, settlement, durationMs });
  });
}

interface Received {
  readonly message: JsMsg;
  readonly envelope: Envelope;
  readonly read: Read;
}

type Read =
  | { readonly message: unknown; readonly error?: undefined }
  | { readonly message: undefined; readonly error: FlotillaError };

function readMessage(envelope: Envelope, { contract }: Stage): Read {
  try {
    return { message: readPayload(envelope, contract) };
  } catch (error) {
    return { message: undefined, error: classify(error) };
  }
}

async function settleDelivery(
  ports: DeliveryPorts,
  stage: Stage,
  handler: Handler<unknown>,
  received: Received,
  shutdown: Shutdown,
): Promise<Settlement> {
  const { message, envelope, read } = received;
  if (read.error !== undefined) return bury(ports, stage, received, read.error, undefined);
  const begun = await begin(ports, stage, envelope, read.message, shutdown);
  switch (begun.kind) {
    case 'handled':
      message.ack();
      return { kind: 'acknowledged' };
    case 'later':
      message.nak(begun.delayMs);
      return begun;
    case 'exhausted':
      return bury(
        ports,
        stage,
        received,
        new FlotillaError(errors.messageNeverSettled, { deaths: begun.deaths }),
        begun.claim,
      );
    case 'proceed': {
      const settlement = await handle(ports, stage, handler, received, begun.claim, shutdown);
      return settlement.kind === 'dead'
        ? bury(ports, stage, received, settlement.error, begun.claim)
        : settle(ports, received, settlement, begun.claim);
    }
  }
}

type Beginning = Awaited<ReturnType<DeliveryGuard['begin']>> | Extract<Settlement, { kind: 'later' }>;

async function begin(
  { guard }: DeliveryPorts,
  stage: Stage,
  envelope: Envelope,
  message: unknown,
  shutdown: Shutdown,
): Promise<Beginning> {
  if (shutdown.signal.aborted)
    return { kind: 'later', delayMs: 0, counted: false, error: classify(shutdown.signal.reason) };
  const arrival: Arrival = {
    messageId: envelope.messageId,
    stage: stage.contract.name,
    delivery: envelope.delivery,
    contract: stage.contract,
    message,
    leaseKey: stage.leaseKey?.(message as never), // parsed by the stage's own contract
  };
  try {
    return await guard.begin(arrival);
  } catch (error) {
    return { kind: 'later', delayMs: beginRetryMs(envelope.delivery), counted: false, error: classify(error) };
  }
}

async function handle(
  ports: DeliveryPorts,
  stage: Stage,
  handler: Handler<unknown>,
  { message, envelope, read }: Received,
  claim: Claim,
  shutdown: Shutdown,
): Promise<Settlement> {
  const lost = new AbortController();
  const stopKeeping = keep(ports, message, claim, () =>
    lost.abort(
      new FlotillaError(errors.leaseLost, {
        key: claim.lease?.key ?? envelope.messageId,
        fence: claim.lease?.fence ?? 0,
      }),
    ),
  );
  const delivery = describeDelivery(stage, envelope, claim, AbortSignal.any([lost.signal, shutdown.signal]));
  const given = rejectOn(shutdown.given);
  try {
    await Promise.race([handler.handle(read.message, delivery), given.promise]);
    return { kind: 'acknowledged' };
  } catch (error) {
    const { failures } = claim;
    const stopping = shutdown.signal.aborted;
    return decideSettlement({ error, failures, budget: stage.budget, leaseLost: lost.signal.aborted, stopping });
  } finally {
    stopKeeping();
    given.forget();
  }
}

/** Keeps the message and its lease. Returns how to stop. */
function keep(ports: DeliveryPorts, message: JsMsg, claim: Claim, lost: () => void): () => void {
  return keepAlive({
    renew: () => ports.guard.renew(claim),
    tellBroker: () => message.working(),
    lost,
    everyMs: ports.heartbeatMs,
    leaseMs: ports.leaseMs,
    monotonicMs: ports.monotonicMs,
  });
}

function describeDelivery({ contract }: Stage, envelope: Envelope, { lease }: Claim, signal: AbortSignal): Delivery {
  const { messageId, subject, headers, delivery, at } = envelope;
  const traceparent = headers.get(headerNames.traceparent);
  const tracestate = headers.get(headerNames.tracestate);
  return {
    messageId,
    stage: contract.name,
    subject,
    headers,
    delivery,
    at,
    signal,
    ...(lease === undefined ? {} : { lease }),
    ...(traceparent === undefined
      ? {}
      : { trace: { traceparent, ...(tracestate === undefined ? {} : { tracestate }) } }),
  };
}

/** The store is told before the broker: a message that comes again at once finds its lease free and its failure counted. */
async function settle(
  ports: DeliveryPorts,
  { message }: Received,
  settlement: Exclude<Settlement, { kind: 'dead' }>,
  claim: Claim,
): Promise<Settlement> {
  try {
    await ports.guard.settle(claim, settlement);
  } catch (error) {
    ports.observer.troubled('settlement_not_recorded', error, claim.arrival.stage);
  }
  if (settlement.kind === 'acknowledged') message.ack();
  if (settlement.kind === 'later') message.nak(settlement.delayMs);
  return settlement;
}

async function bury(
  ports: DeliveryPorts,
  stage: Stage,
  { message, envelope, read }: Received,
  error: FlotillaError,
  claim: Claim | undefined,
): Promise<Settlement> {
  const letter = writeDeadLetter(stage, envelope, read.message, error, ports.clock());
  // Whoever buries may have to ask others first, and without the lease it commits nothing.
  const stopKeeping = claim === undefined ? () => undefined : keep(ports, message, claim, () => undefined);
  try {
    await ports.guard.bury({ letter, contract: stage.contract, error, claim });
  } catch (failure) {
    ports.observer.troubled('dead_letter_not_written', failure, stage.contract.name);
    message.nak(buryRetryMs);
    return { kind: 'later', delayMs: buryRetryMs, counted: false, error: classify(failure) };
  } finally {
    stopKeeping();
  }
  message.term(); // without a reason, which nats-server 2.9 does not understand
  return { kind: 'dead', error };
}
