import { createHash } from 'node:crypto';
import { mayAnswerTo } from '@flotilla/contracts/answer-subject';
import { headers } from '@flotilla/contracts/headers';
import { Principal } from '@flotilla/contracts/ids';
import type { TaskSubmitted } from '@flotilla/contracts/messages/task-submitted';
import { intakeSubject } from '@flotilla/contracts/streams';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import type { Delivery, Handler } from '@flotilla/stream/stage';
import type { IntakeStore } from './store/intake.store.ts';

/** Sends an answer that nothing keeps. */
export type Answer = (subject: string, text: string) => void;

const MESSAGE_ID_HEADER = 'Nats-Msg-Id';
const unnamed = Principal.parse('local');

/**
 * Turns a task of the queue into a run, and answers with its id where the message names one of its publisher's inbox. A refusal is
 * thrown, which makes it a dead letter, and whoever buries that answers with it.
 */
export class AcceptTaskHandler implements Handler<TaskSubmitted> {
  readonly #intake: Pick<IntakeStore, 'accept'>;
  readonly #answer: Answer;

  constructor(intake: Pick<IntakeStore, 'accept'>, answer: Answer) {
    this.#intake = intake;
    this.#answer = answer;
  }

  async handle(task: TaskSubmitted, delivery: Delivery): Promise<void> {
    const principal = principalOf(delivery);
    const given = delivery.headers.get(MESSAGE_ID_HEADER);
    // Anybody may choose any id, so it counts among the messages of one principal only.
    const intakeId = given === undefined ? delivery.messageId : `${principal}/${shorten(given)}`;
    const submitted = await this.#intake.accept({ task, principal, through: 'queue', intakeId });
    const answerTo = delivery.headers.get(headers.answerTo);
    if (answerTo !== undefined && mayAnswerTo(answerTo, delivery.subject))
      this.#answer(answerTo, JSON.stringify(submitted));
  }
}

const longestId = 255;

/** An index takes no text of any length. */
function shorten(id: string): string {
  return id.length <= longestId ? id : `sha256/${createHash('sha256').update(id).digest('hex')}`;
}

/** Who published is the last token of the subject, which the broker's permissions vouch for; never a field. */
function principalOf({ subject }: Delivery): Principal {
  if (subject === intakeSubject()) return unnamed;
  const principal = Principal.safeParse(subject.slice(intakeSubject('').length));
  if (principal.success) return principal.data;
  throw new FlotillaError(errors.messageMalformed, {
    subject,
    contract: 'TaskSubmitted',
    reason: 'its subject names no principal',
  });
}
