import { DeadLetterRecord } from '@flotilla/contracts/dead-letter';
import { intakeSubject } from '@flotilla/contracts/streams';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';

export interface DeadLetterPorts {
  /** The text of a letter in the DEAD stream; undefined where there is none of this number. */
  readonly read: (deadId: number) => Promise<string | undefined>;
  readonly publish: (message: {
    readonly subject: string;
    readonly messageId: string;
    readonly payload: string;
    readonly headers: Readonly<Record<string, string>>;
  }) => Promise<void>;
}

/** Dead letters of the queue, which may be sent again once their cause is gone. */
export class DeadLetters {
  readonly #ports: DeadLetterPorts;

  constructor(ports: DeadLetterPorts) {
    this.#ports = ports;
  }

  /** Publishes a dead task again under a new id and returns the id; asked twice it stays one task. Throws DEAD_UNKNOWN, DEAD_NOT_REPLAYABLE. */
  async replay(deadId: number): Promise<string> {
    const text = await this.#ports.read(deadId);
    if (text === undefined) throw new FlotillaError(errors.deadUnknown, { deadId });
    const { subject, payload, headers } = DeadLetterRecord.parse(JSON.parse(text));
    if (!subject.startsWith(intakeSubject())) throw new FlotillaError(errors.deadNotReplayable, { deadId });
    const messageId = `replay/${deadId}`;
    await this.#ports.publish({ subject, messageId, payload, headers: withoutDelivery(headers) });
    return messageId;
  }
}

/** What the broker or the first sender said of the first delivery is not true of the next. */
function withoutDelivery(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !/^(nats-|flotilla-answer-to$)/i.test(name)));
}
