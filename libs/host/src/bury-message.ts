import { mayAnswerTo } from '@flotilla/contracts/answer-subject';
import type { DeadLetterRecord } from '@flotilla/contracts/dead-letter';
import { headers as headerNames } from '@flotilla/contracts/headers';
import { StepCompleted } from '@flotilla/contracts/messages/step-completed';
import { problemOf } from '@flotilla/contracts/problem';
import { deadSubject } from '@flotilla/contracts/streams';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import type { Store } from '@flotilla/store/store';
import type { Burial } from '@flotilla/stream/delivery-guard';
import { keepPayload } from './keep-payload.ts';
import { aboutStep } from './step-handler.ts';
import { StepName } from './step-request.ts';
import type { StepAnswer } from './step-work.ts';
import { readSpent } from './sum-spent.ts';

export interface BuryPorts {
  readonly store: Store;
  /** Sends to core NATS; nothing keeps it. */
  readonly answer: (subject: string, payload: string, headers: Readonly<Record<string, string>>) => void;
  /** How a step that is given up ended all the same. Throws while that cannot be told; nothing is buried then. */
  readonly findEnd?: (burial: Burial) => Promise<StepAnswer | undefined>;
}

/**
 * The one dead-letter handler: keeps the letter, tells the run that its step failed, or how it ended before that, and tells whoever put a task on the queue why it
 * was refused. Safe to repeat; a message that was handled meanwhile is left alone.
 */
export async function buryMessage({ store, answer, findEnd }: BuryPorts, burial: Burial): Promise<void> {
  const { letter, contract, error, claim } = burial;
  const step = contract.subject.startsWith('flotilla.step.requested.') ? readStepName(letter) : undefined;
  const end = step === undefined ? undefined : await findEnd?.(burial);
  const spent = step === undefined ? undefined : await readSpent(store, step);
  try {
    await store.transaction(async (transaction) => {
      if (claim?.lease !== undefined) await transaction.requireLease(claim.lease);
      await transaction.publishRaw({
        subject: deadSubject(letter.stage),
        messageId: `${letter.messageId}/dead`,
        payload: JSON.stringify({ ...letter, ...keepPayload(letter.payload) }),
        ...(letter.headers[headerNames.traceparent] === undefined ? {} : { headers: traceOf(letter) }),
      });
      if (step !== undefined && spent !== undefined) {
        const failed = { kind: 'failed', code: error.code, message: error.message, advice: error.advice } as const;
        const { entries = [], ...answer }: StepAnswer = end ?? { outcome: failed, spent };
        await transaction.publish(StepCompleted, { ...step, ...answer });
        const lease = claim?.lease;
        if (entries.length > 0 && lease !== undefined)
          await transaction.appendLog(step.runId, entries.map(aboutStep(step)), { lease });
      }
      await transaction.completeInbox(letter.messageId, letter.stage);
    });
  } catch (failure) {
    if (failure instanceof FlotillaError && failure.is(errors.deliveryAlreadyHandled)) return;
    throw failure;
  }
  const answerTo = contract.stream === 'TASKS' ? letter.headers[headerNames.answerTo] : undefined;
  if (answerTo !== undefined && mayAnswerTo(answerTo, letter.subject)) {
    answer(answerTo, JSON.stringify(problemOf(error)), { [headerNames.error]: error.code });
  }
}

/** A request that breaks its contract may still say which step it asks for. */
function readStepName({ payload }: DeadLetterRecord): StepName | undefined {
  try {
    const parsed = StepName.safeParse(JSON.parse(payload));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}

function traceOf({ headers }: DeadLetterRecord): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => name === headerNames.traceparent || name === headerNames.tracestate),
  );
}
