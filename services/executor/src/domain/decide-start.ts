import type { Change } from '@flotilla/contracts/change';
import type { CommitId } from '@flotilla/contracts/ids';
import { readEvent, type LogEntry } from '@flotilla/contracts/log-entry';
import { CheckpointTaken } from '@flotilla/contracts/events/journal-events';
import type { Base } from '@flotilla/contracts/step-request';

/** A commit to lay in the slot, and the bundle that carries it. */
export interface Start {
  readonly commit: CommitId;
  readonly bundle: string;
  /** True where an earlier process worked on this attempt and left a journal. */
  readonly resumed: boolean;
}

/**
 * Where a build begins. A change on another base met a conflict: its author starts anew from the base that it met. A
 * journal means that this attempt goes on from its last checkpoint, and from where it began when it had changed nothing.
 */
export function decideStart(
  base: Base,
  change: Change | undefined,
  journal: readonly Pick<LogEntry, 'type' | 'payload'>[],
): Start {
  const begin = change !== undefined && change.base === base.commit ? change : base;
  const checkpoints = journal.map((entry) => readEvent(entry, CheckpointTaken)).filter((read) => read !== undefined);
  const resumed = journal.some(({ type }) => type === 'agent.turn');
  const last = checkpoints.at(-1);
  if (last === undefined || last.commit === null || last.bundle === null) {
    return { commit: begin.commit, bundle: begin.bundle, resumed };
  }
  return { commit: last.commit, bundle: last.bundle, resumed };
}
