import type { RunId } from '@flotilla/contracts/ids';
import type { LogEntry } from '@flotilla/contracts/log-entry';
import type { Store } from '@flotilla/store/store';
import { timelineTypes } from '../domain/write-timeline.ts';
import type { RunLog } from '../remember-run.handler.ts';

const entryLimit = 2_000;

/** The entries of a run that its summary is made of; a run with more of them is told by its first ones. */
export class RunLogStore implements RunLog {
  readonly #store: Pick<Store, 'readLog'>;

  constructor(store: Pick<Store, 'readLog'>) {
    this.#store = store;
  }

  read(runId: RunId): Promise<readonly LogEntry[]> {
    return this.#store.readLog(runId, { types: timelineTypes, limit: entryLimit });
  }
}
