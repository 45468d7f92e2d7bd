import {
  AckPolicy,
  type Consumer,
  type ConsumerConfig,
  DeliverPolicy,
  DiscardPolicy,
  JetStreamApiError,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
} from '@nats-io/jetstream';
import { Objm } from '@nats-io/obj';
import { nanos } from '@nats-io/transport-node';
import type { MessageContract } from '@flotilla/contracts/define-message';
import {
  ACK_WAIT_MS,
  buckets,
  DUPLICATE_WINDOW_MS,
  durableName,
  type StreamDefinition,
  streams,
} from '@flotilla/contracts/streams';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import type { Broker } from './connect-broker.ts';
import { translating } from './translate-error.ts';

/**
 * Creates what is missing of the streams and buckets, gives streams their present limits and leaves the rest alone. Safe to repeat
 * and to run at once.
 */
export async function provisionStreams(broker: Broker): Promise<void> {
  for (const definition of Object.values(streams)) await provisionStream(broker, definition);
  const objects = new Objm(broker.js);
  for (const bucket of buckets) await translating(() => objects.create(bucket, { storage: StorageType.File }));
}

async function provisionStream(broker: Broker, definition: StreamDefinition): Promise<void> {
  await translating(async () => {
    try {
      await broker.jsm.streams.add(streamConfig(definition));
    } catch (error) {
      if (!isApiError(error, STREAM_NAME_IN_USE)) throw error;
      const { config } = await broker.jsm.streams.info(definition.name);
      const missing = definition.subjects.filter((subject) => !config.subjects.includes(subject));
      if (config.retention !== streamConfig(definition).retention || missing.length > 0) {
        throw new FlotillaError(errors.streamDiffers, {
          stream: definition.name,
          reason: `it keeps ${config.subjects.join(' ')} by ${config.retention}`,
        });
      }
      await updateLimits(broker, definition);
    }
  });
}

/** A lower limit would throw away what waits already, so that is waited out: the next start sees to it. */
async function updateLimits(broker: Broker, definition: StreamDefinition): Promise<void> {
  const { config, state } = await broker.jsm.streams.info(definition.name);
  const wanted = limitsOf(definition);
  const differs = Object.entries(wanted).some(([field, value]) => Reflect.get(config, field) !== value);
  if (differs && state.messages < (definition.waitingLimit ?? Infinity))
    await broker.jsm.streams.update(definition.name, wanted);
}

function limitsOf({ duplicateWindowMs, waitingLimit, messageLimitBytes }: StreamDefinition): Partial<StreamConfig> {
  return {
    duplicate_window: nanos(duplicateWindowMs ?? DUPLICATE_WINDOW_MS),
    ...(messageLimitBytes === undefined ? {} : { max_msg_size: messageLimitBytes }),
    ...(waitingLimit === undefined
      ? {}
      : { max_msgs_per_subject: waitingLimit, discard: DiscardPolicy.New, discard_new_per_subject: true }),
  };
}

function streamConfig(definition: StreamDefinition): StreamConfig & { name: string } {
  const { name, subjects, retention, maxAgeMs } = definition;
  const wanted: Partial<StreamConfig> & { name: string } = {
    name,
    subjects: [...subjects],
    retention: retention === 'workqueue' ? RetentionPolicy.Workqueue : RetentionPolicy.Limits,
    storage: StorageType.File,
    ...limitsOf(definition),
    ...(maxAgeMs === undefined ? {} : { max_age: nanos(maxAgeMs) }),
  };
  return wanted as StreamConfig & { name: string }; // the server fills what is left out
}

/** Creates the durable consumer of a message for the service that takes it. Safe to repeat. Throws STREAMS_MISSING. */
export async function provisionConsumer(
  broker: Broker,
  service: string,
  contract: Pick<MessageContract, 'stream' | 'subject'>,
  ackWaitMs: number = ACK_WAIT_MS,
): Promise<Consumer> {
  const durable = durableName(service, contract.subject);
  // The queue has one consumer for the plain subject and the ones of principals.
  const filter = contract.stream === 'TASKS' ? undefined : contract.subject;
  const config: Partial<ConsumerConfig> = {
    durable_name: durable,
    name: durable,
    ack_policy: AckPolicy.Explicit,
    deliver_policy: DeliverPolicy.All,
    ack_wait: nanos(ackWaitMs),
    max_deliver: -1,
    max_ack_pending: 4096,
    ...(filter === undefined ? {} : { filter_subject: filter }),
  };
  return translating(async () => {
    try {
      await broker.jsm.consumers.add(contract.stream, config);
    } catch (error) {
      if (isApiError(error, STREAM_NOT_FOUND))
        throw new FlotillaError(errors.streamsMissing, { stream: contract.stream });
      if (!isApiError(error, CONSUMER_EXISTS) && !isApiError(error, CONSUMER_NAME_IN_USE)) throw error;
    }
    return broker.js.consumers.get(contract.stream, durable);
  });
}

const STREAM_NAME_IN_USE = 10058;
const STREAM_NOT_FOUND = 10059;
const CONSUMER_NAME_IN_USE = 10013;
const CONSUMER_EXISTS = 10148;

function isApiError(error: unknown, code: number): boolean {
  return error instanceof JetStreamApiError && error.code === code;
}
