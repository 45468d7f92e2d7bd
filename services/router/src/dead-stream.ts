import type { Broker } from '@flotilla/stream/connect-broker';
import { publishRaw } from '@flotilla/stream/publish-message';
import { translating } from '@flotilla/stream/translate-error';
import type { DeadLetterPorts } from './replay-dead.ts';

/** The DEAD stream of the broker. */
export function createDeadStream(broker: Broker): DeadLetterPorts {
  return {
    read: (deadId) => translating(async () => (await broker.jsm.streams.getMessage('DEAD', { seq: deadId }))?.string()),
    publish: async (message) => void (await publishRaw(broker, message)),
  };
}
