import type { NewLogEntry } from '@flotilla/contracts/log-entry';
import type { StepContext } from '@flotilla/host/step-work';
import type { DoorRequest } from '@flotilla/sandbox/door';

/** A setup of many packages asks a thousand times; the log keeps the first ones and every refusal up to as many again. */
const keptOfEach = 200;

/** Collects what was asked of a door and writes it to the step's log. */
export class DoorLog {
  readonly #context: Pick<StepContext, 'log'>;
  readonly #entries: NewLogEntry[] = [];
  readonly #counts = { allow: 0, refuse: 0 };

  constructor(context: Pick<StepContext, 'log'>) {
    this.#context = context;
  }

  readonly note = ({ host, port, method, verdict, reason, bytes }: DoorRequest): void => {
    const kind = verdict === 'allowed' ? 'allow' : 'refuse';
    this.#counts[kind] += 1;
    if (this.#counts[kind] > keptOfEach) return;
    const why = reason ?? (kind === 'allow' ? 'listed by the operator' : 'not listed by the operator');
    this.#entries.push({ type: 'door.request', payload: { host, port, method, verdict: kind, reason: why, bytes } });
  };

  async flush(): Promise<void> {
    await this.#context.log(...this.#entries.splice(0));
  }
}
