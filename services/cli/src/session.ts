import type { ApiClient } from './client/api-client.ts';
import type { Fleet } from './fleet/find-fleet.ts';
import type { Palette } from './text/paint.ts';

/** What a verb reaches of the world. */
export interface Session {
  /** Found at the first use, so that a wrong option is told before a missing fleet. */
  readonly fleet: () => Promise<Fleet>;
  readonly api: () => Promise<ApiClient>;
  /** Results, for whoever reads standard output. */
  readonly out: (text: string) => void;
  /** To standard output as it is, for what draws on a terminal. */
  readonly write: (text: string) => void;
  /** Words beside the result, on standard error. */
  readonly note: (text: string) => void;
  /** True where a person sits at both ends. */
  readonly isTerminal: boolean;
  readonly columns: () => number;
  readonly palette: Palette;
  /** Asks the person; rejects when the signal aborts. */
  readonly ask: (question: string, signal?: AbortSignal) => Promise<string>;
  /** Lines of standard input, until it ends. */
  readonly lines: () => AsyncIterable<string>;
  /** Aborts on Ctrl-C. */
  readonly signal: AbortSignal;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly workingDirectory: string;
  /** What the person types before a verb, for hints. */
  readonly command: string;
  /** True where the result is wanted as JSON. */
  readonly json: boolean;
  readonly now: () => Date;
}

/** Prints a result: as JSON where wanted, else as text for a person. */
export function report(session: Pick<Session, 'json' | 'out'>, result: unknown, text: () => string): void {
  session.out(session.json ? JSON.stringify(result, undefined, 2) : text());
}
