import type { RunId } from '@flotilla/contracts/ids';
import { RunTail, type TailPorts } from './run-tail.ts';

/** One tail for each run that is watched, for as long as somebody watches. */
export class RunTails {
  readonly #ports: TailPorts;
  readonly #open = new Map<RunId, { readonly tail: RunTail; watchers: number }>();

  constructor(ports: TailPorts) {
    this.#ports = ports;
  }

  /** Number of runs that are watched. */
  get size(): number {
    return this.#open.size;
  }

  take(runId: RunId): RunTail {
    const open = this.#open.get(runId) ?? { tail: new RunTail(runId, this.#ports), watchers: 0 };
    open.watchers += 1;
    this.#open.set(runId, open);
    return open.tail;
  }

  give(runId: RunId): void {
    const open = this.#open.get(runId);
    if (open === undefined) return;
    open.watchers -= 1;
    if (open.watchers > 0) return;
    this.#open.delete(runId);
    open.tail.close();
  }
}
