import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import type { RunState } from './run-state.ts';

/** How often one task may be asked for again. */
const RETRIES_LIMIT = 3;

/** Why a run is not tried again; undefined where it may be. `retries` counts the runs before it of the same task. */
export function whyRetryRefused({ runId, position }: RunState, retries: number): FlotillaError | undefined {
  if (position?.kind !== 'ended') return new FlotillaError(errors.runNotEnded, { runId });
  if (position.result === 'landed') return new FlotillaError(errors.runLanded, { runId });
  if (position.mayHaveLanded === true) return new FlotillaError(errors.runMayHaveLanded, { runId });
  if (retries >= RETRIES_LIMIT) return new FlotillaError(errors.retriesExhausted, { runId, limit: RETRIES_LIMIT });
  return undefined;
}
