import type { Broker } from '@flotilla/stream/connect-broker';
import { publishRaw } from '@flotilla/stream/publish-message';
import { translating } from '@flotilla/stream/translate-error';
import type { DeadLetterPorts } from './dead-letters.ts';

/** The DEAD stream of the broker. */
export function createDeadStream(broker: Broker, newOccasion: () => string): DeadLetterPorts {
  return {
    newOccasion,
    range: () =>
      translating(async () => {
        const { state } = await broker.jsm.streams.info('DEAD');
        return { first: state.first_seq, last: state.last_seq };
      }),
    read: (deadId) => translating(async () => (await broker.jsm.streams.getMessage('DEAD', { seq: deadId }))?.string()),
    publish: async (message) => void (await publishRaw(broker, message)),
  };
}
