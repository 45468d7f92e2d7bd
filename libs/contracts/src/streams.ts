import type { StreamName } from './define-message.ts';

const day = 24 * 3600 * 1000;

/** A JetStream stream as every process expects it. */
export interface StreamDefinition {
  readonly name: StreamName;
  readonly subjects: readonly string[];
  /** `workqueue`: a message is gone once it is acknowledged. `limits`: it stays for `maxAgeMs`. */
  readonly retention: 'workqueue' | 'limits';
  readonly maxAgeMs?: number;
  /** Default DUPLICATE_WINDOW_MS. */
  readonly duplicateWindowMs?: number;
  /** Messages that may wait on one subject; who publishes one more is refused. Default: any number. */
  readonly waitingLimit?: number;
  /** Default: what the server lets through. */
  readonly messageLimitBytes?: number;
  readonly summary: string;
}

/**
 * Repeats of a message id within this time are dropped by the broker. Servers know none shorter than 100 ms and cannot be told to
 * drop nothing.
 */
export const DUPLICATE_WINDOW_MS = 2 * 60 * 1000;
const shortestWindowMs = 100;

export const streams: Readonly<Record<StreamName, StreamDefinition>> = {
  TASKS: {
    name: 'TASKS',
    subjects: ['flotilla.tasks.submitted', 'flotilla.tasks.submitted.*'],
    retention: 'workqueue',
    // An id is one of its publisher's only, which the broker does not know: the router keeps them apart, and for ever.
    duplicateWindowMs: shortestWindowMs,
    // One publisher's flood holds up the others for about a minute and no longer.
    waitingLimit: 5_000,
    messageLimitBytes: 1024 * 1024,
    summary: 'The queue: tasks from outside, by principal.',
  },
  WORK: {
    name: 'WORK',
    subjects: ['flotilla.step.requested.*.*', 'flotilla.step.completed', 'flotilla.step.asked'],
    retention: 'workqueue',
    summary: 'Steps asked for and steps answered.',
  },
  EVENTS: {
    name: 'EVENTS',
    subjects: ['flotilla.events.*'],
    retention: 'limits',
    maxAgeMs: 7 * day,
    summary: 'Wake-ups for readers of a run, by run id.',
  },
  DEAD: {
    name: 'DEAD',
    subjects: ['flotilla.dead.*'],
    retention: 'limits',
    maxAgeMs: 30 * day,
    summary: 'Messages that no handler could settle well, by stage, with cause and original headers.',
  },
};

/** Object buckets. `changes` holds git bundles, `spills` payloads too large for a row; both until the run is archived. */
export const buckets = ['changes', 'spills'] as const;
export type BucketName = (typeof buckets)[number];

/**
 * The bundle of a base commit is of all runs that begin there. Whoever is about to use one that is this old stores it anew, and one that
 * is twice as old and that no run needs is removed: so none goes while somebody is about to use it.
 */
export const RENEW_BASE_AFTER_MS = 7 * day;
export const REMOVE_BASE_AFTER_MS = 14 * day;

/**
 * How long a delivery may go without a sign of life, equal to the lease of the step it asks for, and how often the sign is
 * given: the lease is renewed first, so the broker never believes in a worker that Postgres has given up.
 */
export const ACK_WAIT_MS = 15_000;
export const HEARTBEAT_MS = 5_000;

/** Subjects of core NATS, which nothing keeps: what a step says while it works, and wake-ups. */
export const liveSubject = (runId: string): string => `flotilla.live.${runId}`;
export const eventsSubject = (runId: string): string => `flotilla.events.${runId}`;
export const deadSubject = (stage: string): string => `flotilla.dead.${stage}`;

/** Every subject of the queue: an outside publisher's principal is the last token. */
export const intakeSubject = (principal?: string): string =>
  principal === undefined ? 'flotilla.tasks.submitted' : `flotilla.tasks.submitted.${principal}`;

/** Name of the durable consumer of a message: one per service and subject. */
export function durableName(service: string, subject: string): string {
  return `${service}-${subject.replace(/^flotilla\./, '').replace(/[^a-zA-Z0-9]+/g, '_')}`;
}
