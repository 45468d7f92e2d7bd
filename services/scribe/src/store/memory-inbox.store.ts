import type { ProjectName, RunId } from '@flotilla/contracts/ids';
import type { Store } from '@flotilla/store/store';
import type { ProposedMemory } from '../domain/choose-memory.ts';
import type { MemoryInbox } from '../remember-run.handler.ts';
import { MemoryProposalEntity } from './memory-inbox.entity.ts';

export class MemoryInboxStore implements MemoryInbox {
  readonly #store: Pick<Store, 'transaction'>;
  readonly #clock: () => Date;

  constructor(store: Pick<Store, 'transaction'>, clock: () => Date) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Safe to repeat: a run proposes once, and what a person decided on it stays. */
  async propose(runId: RunId, project: ProjectName, memory: ProposedMemory): Promise<void> {
    await this.#store.transaction(async ({ em }) => {
      await em.upsert(
        MemoryProposalEntity,
        { runId, project, ...memory, state: 'proposed', proposedAt: this.#clock() },
        { onConflictFields: ['runId'], onConflictAction: 'ignore' },
      );
    });
  }
}
