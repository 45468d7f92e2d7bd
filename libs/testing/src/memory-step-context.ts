import type { StepId } from '@flotilla/contracts/ids';
import type { LogEntry, NewLogEntry } from '@flotilla/contracts/log-entry';
import { RunId } from '@flotilla/contracts/ids';

export interface MemoryStepOptions {
  readonly runId?: RunId;
  readonly stepId?: string;
  readonly attempt?: number;
  readonly delivery?: number;
  /** Entries that an earlier process left behind. */
  readonly journal?: readonly NewLogEntry[];
  /** Called before entries become durable; what it throws is a lost lease, or a process that dies there. */
  readonly onLog?: (entries: readonly NewLogEntry[]) => void;
}

/** A step's context whose log lives in memory: fits the host's StepContext. */
export class MemoryStepContext {
  readonly instance = 'test-1';
  readonly delivery: number;
  readonly signal: AbortSignal;
  /** Every entry so far, in order. */
  readonly entries: LogEntry[] = [];
  /** What watchers were told, which is never durable. */
  readonly lives: string[] = [];
  /** Names of the spans that were opened. */
  readonly spans: string[] = [];
  readonly #controller = new AbortController();
  readonly #options: MemoryStepOptions;
  #cancelled = false;

  constructor(options: MemoryStepOptions = {}) {
    this.#options = options;
    this.delivery = options.delivery ?? 1;
    this.signal = this.#controller.signal;
    this.#append(options.journal ?? []);
  }

  abort(reason: unknown): void {
    this.#controller.abort(reason);
  }

  /** A person cancels the run. */
  cancel(reason: unknown): void {
    this.#cancelled = true;
    this.#controller.abort(reason);
  }

  /** The payloads of the entries of one type. */
  payloads(type: string): readonly unknown[] {
    return this.entries.filter((entry) => entry.type === type).map(({ payload }) => payload);
  }

  // A class that is handed around by its methods: they do not depend on `this`.
  readonly log = async (...entries: readonly NewLogEntry[]): Promise<void> => {
    this.#options.onLog?.(entries);
    this.#append(entries);
  };

  readonly journal = async (): Promise<readonly LogEntry[]> => [...this.entries];

  readonly previousJournals = async (): Promise<readonly LogEntry[]> => [];

  readonly live = (text: string): void => void this.lives.push(text);

  readonly cancelled = async (): Promise<boolean> => this.#cancelled;

  readonly span = async <T>(
    name: string,
    _attributes: Readonly<Record<string, string | number | boolean>>,
    work: () => Promise<T>,
  ): Promise<T> => {
    this.spans.push(name);
    return work();
  };

  #append(entries: readonly NewLogEntry[]): void {
    for (const { type, payload } of entries) {
      this.entries.push({
        runId: this.#options.runId ?? RunId.parse('run_01j9z3k8m2n4p6q8r0s2t4v6w8'),
        sequence: this.entries.length + 1,
        // Test ids are written by hand.
        stepId: (this.#options.stepId ?? 'step') as StepId,
        attempt: this.#options.attempt ?? 1,
        type,
        payload: structuredClone(payload),
        at: '2030-01-01T00:00:00.000Z',
      });
    }
  }
}
