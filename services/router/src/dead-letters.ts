import type { DeadLetter } from '@flotilla/contracts/calls/dead-view';
import type { ShowDead } from '@flotilla/contracts/calls/show-dead';
import { DeadLetterRecord } from '@flotilla/contracts/dead-letter';
import type { ResponseOf } from '@flotilla/contracts/define-call';
import { RunId } from '@flotilla/contracts/ids';
import { intakeSubject } from '@flotilla/contracts/streams';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';

export interface DeadLetterPorts {
  /** Numbers of the oldest and the newest letter that may be there; `last` is below `first` where there is none. */
  readonly range: () => Promise<{ readonly first: number; readonly last: number }>;
  /** The text of a letter; undefined where there is none of this number. */
  readonly read: (deadId: number) => Promise<string | undefined>;
  /** A new name each time. */
  readonly newOccasion: () => string;
  readonly publish: (message: {
    readonly subject: string;
    readonly messageId: string;
    readonly payload: string;
    readonly headers: Readonly<Record<string, string>>;
  }) => Promise<void>;
}

/** Messages that no handler could settle well. Those of the queue may be sent again once their cause is gone. */
export class DeadLetters {
  readonly #ports: DeadLetterPorts;

  constructor(ports: DeadLetterPorts) {
    this.#ports = ports;
  }

  /** Newest first; `next` is where the next page begins. */
  async list(limit: number, before?: number): Promise<{ readonly letters: DeadLetter[]; readonly next?: number }> {
    const { first, last } = await this.#ports.range();
    const letters: DeadLetter[] = [];
    for (let deadId = Math.min(last, (before ?? last + 1) - 1); deadId >= Math.max(1, first); deadId -= 1) {
      if (letters.length === limit) return { letters, next: deadId + 1 };
      const record = await this.#find(deadId);
      if (record !== undefined) letters.push(viewOf(deadId, record));
    }
    return { letters };
  }

  /** Throws DEAD_UNKNOWN. */
  async show(deadId: number): Promise<ResponseOf<typeof ShowDead>> {
    const record = await this.#get(deadId);
    const { headers, payload } = record;
    const { kept, size } = measure(record);
    const truncated = kept < size;
    return { letter: viewOf(deadId, record), headers, payload: asJson(payload), payloadBytes: size, truncated };
  }

  /**
   * Publishes a dead task again and returns the id it has now. Whoever asks again gets another id and so another task, unless
   * it names the occasion of before. Throws DEAD_UNKNOWN, DEAD_NOT_REPLAYABLE, DEAD_EMPTY or DEAD_INCOMPLETE.
   */
  async replay(deadId: number, occasion = this.#ports.newOccasion()): Promise<string> {
    const record = await this.#get(deadId);
    const { subject, payload, headers, runId = 'RUN' } = record;
    const queued = subject === intakeSubject() || subject.startsWith(intakeSubject(''));
    if (!queued) throw new FlotillaError(errors.deadNotReplayable, { deadId, runId });
    const { kept, size } = measure(record);
    if (size === 0) throw new FlotillaError(errors.deadEmpty, { deadId });
    if (kept < size) throw new FlotillaError(errors.deadIncomplete, { deadId, kept, size });
    const messageId = `replay/${deadId}/${occasion}`;
    await this.#ports.publish({ subject, messageId, payload, headers: withoutDelivery(headers) });
    return messageId;
  }

  async #get(deadId: number): Promise<DeadLetterRecord> {
    const record = await this.#find(deadId);
    if (record === undefined) throw new FlotillaError(errors.deadUnknown, { deadId });
    return record;
  }

  async #find(deadId: number): Promise<DeadLetterRecord | undefined> {
    const text = await this.#ports.read(deadId);
    return text === undefined ? undefined : DeadLetterRecord.parse(JSON.parse(text));
  }
}

/** Bytes of the message that are kept and that it had. Letters of before sizes were noted were kept whole or not at all. */
function measure({ payload, payloadBytes }: DeadLetterRecord): { readonly kept: number; readonly size: number } {
  const kept = Buffer.byteLength(payload);
  return { kept, size: payloadBytes ?? kept };
}

function viewOf(deadId: number, record: DeadLetterRecord): DeadLetter {
  const { stage, subject, messageId, code, message, advice, deliveries, at } = record;
  const runId = RunId.safeParse(record.runId);
  return {
    deadId,
    stage,
    subject,
    messageId,
    code,
    message,
    advice,
    deliveries,
    at,
    ...(runId.success ? { runId: runId.data } : {}),
  };
}

/** Deepest nesting that is shown as JSON: whoever reads it on the way walks down to its end. */
const shownDepth = 64;

function asJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return isDeeper(value, shownDepth) ? text : value;
  } catch {
    return text;
  }
}

/** Level by level, since a text of a few kilobytes may be nested deeper than a stack. */
function isDeeper(value: unknown, depth: number): boolean {
  let level: unknown[] = [value];
  for (let reached = 0; reached <= depth; reached += 1) {
    level = level.flatMap((each) => (typeof each === 'object' && each !== null ? Object.values(each) : []));
    if (level.length === 0) return false;
  }
  return true;
}

/** What the broker or the first sender said of the first delivery is not true of the next. */
function withoutDelivery(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !/^(nats-|flotilla-answer-to$)/i.test(name)));
}
