import { CheckpointTaken } from '@flotilla/contracts/events/journal-events';
import { ChangeCaptured, RepositoryOpened } from '@flotilla/contracts/events/step-events';
import type { CommitId, StepId } from '@flotilla/contracts/ids';
import { readEvent, type LogEntry } from '@flotilla/contracts/log-entry';
import { baseBundleName } from './bundle-names.ts';

/** Types of entries that tell of kept work. */
export const salvageTypes: readonly string[] = [RepositoryOpened.type, CheckpointTaken.type, ChangeCaptured.type];

/** Work of an agent that was kept, and the bundle that carries it. */
export interface KeptWork {
  readonly stepId: StepId;
  readonly attempt: number;
  /** The turn that it was kept after; absent where it was handed in. */
  readonly turn?: number;
  readonly commit: CommitId;
  readonly bundle: string;
  readonly at: string;
}

export interface Salvage {
  /** Canonical identity of the remote. */
  readonly repository: string;
  readonly work: KeptWork;
}

export interface SalvageWanted {
  readonly stepId?: StepId | undefined;
  readonly commit?: CommitId | undefined;
}

type Entry = Pick<LogEntry, 'type' | 'payload' | 'stepId' | 'attempt' | 'at'>;

/**
 * The newest work that the log tells of. An attempt that took everything back has none, and leaves what the attempts before
 * it kept; with a commit, only that one counts, whatever came after it.
 */
export function chooseSalvage(entries: readonly Entry[], { stepId, commit }: SalvageWanted): Salvage | undefined {
  let repository: string | undefined;
  let kept: readonly KeptWork[] = [];
  for (const entry of entries) {
    repository = readEvent(entry, RepositoryOpened)?.repository ?? repository;
    if (entry.stepId === undefined || entry.attempt === undefined) continue;
    if (stepId !== undefined && entry.stepId !== stepId) continue;
    const of = { stepId: entry.stepId, attempt: entry.attempt };
    const read = readKept(entry);
    if (read === undefined) continue;
    if (commit === undefined) kept = kept.filter((work) => work.stepId !== of.stepId || work.attempt !== of.attempt);
    if (read !== 'nothing') kept = [...kept, { ...of, ...read, at: entry.at }];
  }
  const work = kept.findLast((each) => commit === undefined || each.commit === commit);
  return repository === undefined || work === undefined ? undefined : { repository, work };
}

type Read = Pick<KeptWork, 'turn' | 'commit' | 'bundle'>;

function readKept(entry: Entry): Read | 'nothing' | undefined {
  const captured = readEvent(entry, ChangeCaptured)?.change;
  if (captured !== undefined) return { commit: captured.commit, bundle: captured.bundle };
  const checkpoint = readEvent(entry, CheckpointTaken);
  if (checkpoint === undefined) return undefined;
  const { turn, commit, bundle } = checkpoint;
  if (commit === null || bundle === null || bundle === baseBundleName(commit)) return 'nothing';
  return { turn, commit, bundle };
}
