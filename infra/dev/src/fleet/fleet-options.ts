import type { FlotillaError } from '@flotilla/errors/flotilla-error';
import type { Report } from '../report.ts';

export interface FleetOptions {
  /** Absolute; everything that belongs to this fleet lies below it. */
  readonly dataDirectory: string;
  readonly report: Report;
  readonly signal: AbortSignal;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** All services in one process. Default: one process each. */
  readonly allInOne?: boolean;
  /** Port of the gateway; 0 takes a free one. Default: that of the last run, at first 7420, or a free one where it is taken. */
  readonly httpPort?: number | undefined;
  /** Settings by variable, over those of the environment. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Called with each line that a service logs. */
  readonly onLogLine?: (line: string) => void;
  /** Called when a service cannot be kept running. */
  readonly onGivenUp: (error: FlotillaError) => void;
}
