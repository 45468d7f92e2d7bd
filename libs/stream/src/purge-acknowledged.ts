import { JetStreamApiError } from '@nats-io/jetstream';
import { durableName, streams } from '@flotilla/contracts/streams';
import type { MessageContract } from '@flotilla/contracts/define-message';
import type { Broker } from './connect-broker.ts';
import { translating } from './translate-error.ts';

/**
 * Removes messages of work queues that their consumer has acknowledged: a server that was killed may show them again, below the
 * floor of the consumer, which gives them to nobody. What is above the floor, or of a consumer that is not there, stays. Answers
 * how many went. Safe to repeat and to run at once; three requests for a queue that is empty but for what waits.
 */
export async function purgeAcknowledged(
  broker: Pick<Broker, 'jsm'>,
  contracts: readonly Pick<MessageContract, 'stream' | 'subject' | 'consumer'>[],
): Promise<number> {
  let purged = 0;
  for (const { stream, subject, consumer } of contracts) {
    if (streams[stream].retention !== 'workqueue') continue;
    purged += await translating(() => purgeBelowFloor(broker, stream, durableName(consumer, subject)));
  }
  return purged;
}

async function purgeBelowFloor({ jsm }: Pick<Broker, 'jsm'>, stream: string, durable: string): Promise<number> {
  const { messages, first_seq: first, last_seq: last } = (await jsm.streams.info(stream)).state;
  if (messages === 0) return 0;
  try {
    const { ack_floor: acknowledged, config } = await jsm.consumers.info(stream, durable);
    const floor = acknowledged.stream_seq;
    // A floor beyond the stream is of messages that the stream has lost: their numbers may be given again.
    if (floor < first || floor > last) return 0;
    const filter = config.filter_subject === undefined ? {} : { filter: config.filter_subject };
    return (await jsm.streams.purge(stream, { ...filter, seq: floor + 1 })).purged;
  } catch (error) {
    if (error instanceof JetStreamApiError && error.code === CONSUMER_NOT_FOUND) return 0;
    throw error;
  }
}

const CONSUMER_NOT_FOUND = 10014;
