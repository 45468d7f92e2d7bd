import type { StepRequest } from '@flotilla/host/step-request';
import type { StepWork } from '@flotilla/host/step-work';

/**
 * Shares a service's slots between its stages, so that each takes as many steps as there are slots and none ahead. Takes
 * nothing before it is opened.
 */
export class SlotRoom {
  readonly #busy = new Map<string, number>();
  #slots = 0;

  /** How many slots the service has. */
  open(slots: number): void {
    this.#slots = slots;
  }

  /** How many steps a stage may have under way now: every slot that no other stage works in. */
  roomFor(stage: string): number {
    let others = 0;
    for (const [name, busy] of this.#busy) if (name !== stage) others += busy;
    return Math.max(0, this.#slots - others);
  }

  /** The same work, counted as working in a slot while it runs. */
  occupying<Request extends StepRequest>(stage: string, work: StepWork<Request>): StepWork<Request> {
    return {
      work: async (request, context) => {
        this.#count(stage, 1);
        try {
          return await work.work(request, context);
        } finally {
          this.#count(stage, -1);
        }
      },
    };
  }

  #count(stage: string, change: number): void {
    this.#busy.set(stage, (this.#busy.get(stage) ?? 0) + change);
  }
}
