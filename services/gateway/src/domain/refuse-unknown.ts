import { StepRequestedEvent } from '@flotilla/contracts/events/run-events';
import type { RunId, StepId } from '@flotilla/contracts/ids';
import { eventCatalogue, type LogEntry } from '@flotilla/contracts/log-entry';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';

/** Types of entries that tell which steps a run came to. */
export const stepTypes: readonly string[] = [StepRequestedEvent.type];

/** The types among these that are of no event of this version; a log of another version may have them all the same. */
export function unknownTypes(types: readonly string[]): readonly string[] {
  return types.filter((type) => !eventCatalogue.some((event) => event.type === type));
}

export function typeUnknown(type: string): FlotillaError {
  const types = eventCatalogue.map((event) => event.type).toSorted();
  return new FlotillaError(errors.eventTypeUnknown, { type, types: types.join(', ') });
}

/** Why a run has nothing about a step: STEP_UNKNOWN where it did not come to one of that name. */
export function whyStepUnknown(runId: RunId, stepId: StepId, requests: readonly LogEntry[]): FlotillaError | undefined {
  const known = new Set(requests.flatMap((entry) => entry.stepId ?? []));
  if (known.has(stepId)) return undefined;
  const steps = known.size === 0 ? 'none yet' : [...known].join(', ');
  return new FlotillaError(errors.stepUnknown, { runId, stepId, steps });
}
