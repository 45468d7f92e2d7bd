import type { StepCompleted } from '@flotilla/contracts/messages/step-completed';
import type { Delivery, Handler } from '@flotilla/stream/stage';
import type { RunStore } from './store/run.store.ts';

/** Moves a run by the outcome of its step. An answer of a past attempt, or of a run that ended, changes nothing. */
export class CompleteStepHandler implements Handler<StepCompleted> {
  readonly #runs: Pick<RunStore, 'completeStep'>;

  constructor(runs: Pick<RunStore, 'completeStep'>) {
    this.#runs = runs;
  }

  async handle(completion: StepCompleted, { messageId, stage }: Delivery): Promise<void> {
    await this.#runs.completeStep(completion, { messageId, stage });
  }
}
