import type { StepCompleted } from '@flotilla/contracts/messages/step-completed';
import type { Outcome } from '@flotilla/contracts/outcome';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { classify } from '@flotilla/stream/decide-settlement';
import type { Delivery, Handler } from '@flotilla/stream/stage';
import type { RunStore } from './store/run.store.ts';

/**
 * Moves a run by the outcome of its step. An answer of a past attempt, or of a run that ended, changes nothing. Where the run
 * cannot be moved by it, above all because the next request does not fit a message, the run fails instead of waiting for ever.
 */
export class CompleteStepHandler implements Handler<StepCompleted> {
  readonly #runs: Pick<RunStore, 'completeStep'>;

  constructor(runs: Pick<RunStore, 'completeStep'>) {
    this.#runs = runs;
  }

  async handle(completion: StepCompleted, { messageId, stage, delivery }: Delivery): Promise<void> {
    const inbox = { messageId, stage };
    try {
      await this.#runs.completeStep(completion, inbox);
    } catch (error) {
      const known = classify(error);
      if (!isHopeless(known, delivery)) throw error;
      const { code, message, advice } = known;
      const outcome: Outcome = { kind: 'failed', code, message, advice };
      await this.#runs.completeStep({ ...completion, outcome }, inbox);
    }
  }
}

/** What nobody foresaw is tried once more; a run that does not exist cannot fail. */
function isHopeless(error: FlotillaError, delivery: number): boolean {
  if (error.remedy === 'wait' || error.remedy === 'retry' || error.is(errors.runUnknown)) return false;
  return !error.is(errors.failureUnclassified) || delivery > 1;
}
