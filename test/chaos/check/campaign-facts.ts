import type { Spent } from '@flotilla/contracts/allowance';

/** What was left of a campaign once it was quiet: read from Postgres, git, Docker, the broker, Redis and the disk. */
export interface CampaignFacts {
  readonly tasks: readonly PublishedTask[];
  readonly runs: readonly RunFact[];
  /** Every run's log, by run id, in the order of its sequence. */
  readonly logs: ReadonlyMap<string, readonly LogFact[]>;
  /** Commits that came onto the remotes' branches after the first, along first parents, oldest first. */
  readonly landings: readonly Landing[];
  readonly leftovers: readonly Leftover[];
}

export interface PublishedTask {
  readonly externalKey: string;
  readonly project: string;
}

export interface RunFact {
  readonly runId: string;
  readonly externalKey: string;
  readonly state: string;
  readonly result: string | null;
  readonly commit: string | null;
  /** Why it failed or met a limit, where it did. */
  readonly message: string | null;
  readonly spent: Spent;
}

export interface LogFact {
  readonly sequence: number;
  readonly type: string;
  readonly stepId: string | null;
  readonly attempt: number | null;
  readonly payload: Readonly<Record<string, unknown>>;
}

export interface Landing {
  readonly project: string;
  readonly commit: string;
  readonly tree: string;
  /** From the commit's trailer; undefined where it has none. */
  readonly run: string | undefined;
}

/** Something that should be gone: what kind of thing, and which one. */
export interface Leftover {
  readonly kind:
    | 'container'
    | 'workspace'
    | 'lease'
    | 'lock'
    | 'message'
    | 'consumer'
    | 'branch'
    | 'outbox row'
    | 'open gate'
    | 'turn';
  readonly name: string;
}

/** A promise that was not kept. */
export interface Violation {
  readonly rule: string;
  readonly about: string;
  readonly found: string;
}
