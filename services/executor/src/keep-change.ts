import type { Checkpoint, CheckpointPort, HandInPort, UnkeptWorkspace } from '@flotilla/agent/ports';
import type { Change } from '@flotilla/contracts/change';
import type { CommitId, TreeId } from '@flotilla/contracts/ids';
import type { BuildStepRequested } from '@flotilla/contracts/messages/build-step-requested';
import type { Base } from '@flotilla/contracts/step-request';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { createBundle } from '@flotilla/git/bundle';
import { captureChange, type CapturedChange } from '@flotilla/git/capture-change';
import type { WorkspaceMemory } from '@flotilla/git/collect-changes';
import { diffCommits } from '@flotilla/git/diff';
import { diffIdentity } from '@flotilla/git/diff-identity';
import { readTreeOf } from '@flotilla/git/read-tree';
import type { Workplace } from '@flotilla/workplace/workplaces';

export interface ChangeKeeper {
  /** The `changes` bucket; a name stands for its content. */
  readonly bundles: { put(name: string, bytes: Uint8Array): Promise<void> };
  readonly clock: () => Date;
}

export interface KeptChange {
  readonly change: Change;
  readonly diff: string;
  readonly diffTruncated: boolean;
}

const diffLimitBytes = 512 * 1024;

/** Captures the workspace as one commit on the base and stores its bundle; undefined where it equals the base. */
export async function keepChange(
  keeper: ChangeKeeper,
  request: BuildStepRequested,
  place: Workplace,
  summary: string,
): Promise<KeptChange | undefined> {
  const captured = await capture(keeper, request, place, `${firstLine(request.goal)}\n\n${summary}`);
  if (captured.kind === 'no_changes') return undefined;
  const { commit, tree, files } = captured;
  const base = request.base.commit;
  const bundle = await storeBundle(keeper, request, place, commit);
  const { text, truncated } = await diffCommits(place.mirror, base, commit, { limitBytes: diffLimitBytes });
  const identity = await diffIdentity(place.mirror, base, commit);
  return {
    change: { commit, tree, base, bundle, diffIdentity: identity, files: [...files] },
    diff: text,
    diffTruncated: truncated,
  };
}

const untouched: Checkpoint = { commit: null, tree: null, bundle: null };

/**
 * Keeps the workspace after each turn that may have changed it. One that cannot become a change, such as one with a huge
 * file that is not ignored, is not kept, with the reason: the agent may still put it right before it finishes.
 */
export function keepCheckpoints(
  keeper: ChangeKeeper,
  request: BuildStepRequested,
  place: Workplace,
  memory: WorkspaceMemory,
): CheckpointPort {
  const { base, change } = request;
  const begun = change?.base === base.commit ? change : undefined;
  let last: Checkpoint = untouched;
  return async (turn) => {
    const captured = await captureOrRefuse(keeper, request, place, `Checkpoint after turn ${turn}`, memory);
    if ('refused' in captured) return captured;
    if (captured.kind === 'changed' && captured.tree === last.tree) return last;
    if (captured.kind === 'no_changes') last = begun === undefined ? untouched : await keepBase(base, place);
    else if (captured.tree === begun?.tree) last = untouched;
    else last = await keepCommit(captured.commit, captured.tree, keeper, request, place);
    return last;
  };
}

/** What keeps the workspace from becoming a change, which its author can still put right. */
export function checkHandIn(
  keeper: ChangeKeeper,
  request: BuildStepRequested,
  place: Workplace,
  memory: WorkspaceMemory,
): HandInPort {
  return async () => {
    const captured = await captureOrRefuse(keeper, request, place, 'As it would be handed in', memory);
    return 'refused' in captured ? captured.refused : undefined;
  };
}

/** A build that went on from an earlier change and took all of it back. */
async function keepBase({ commit, bundle }: Base, { mirror }: Workplace): Promise<Checkpoint> {
  return { commit, tree: await readTreeOf(mirror, commit), bundle };
}

async function keepCommit(
  commit: CommitId,
  tree: TreeId,
  keeper: ChangeKeeper,
  request: BuildStepRequested,
  place: Workplace,
): Promise<Checkpoint> {
  return { commit, tree, bundle: await storeBundle(keeper, request, place, commit) };
}

/** The capture, or in words for the model why the workspace cannot become a change. */
async function captureOrRefuse(...parts: Parameters<typeof capture>): Promise<CapturedChange | UnkeptWorkspace> {
  try {
    return await capture(...parts);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return { refused: `${error.message}. ${error.advice}` };
  }
}

function isRefusal(error: unknown): error is FlotillaError {
  return error instanceof FlotillaError && (error.is(errors.changeRefused) || error.is(errors.changeTooLarge));
}

function capture(
  { clock }: ChangeKeeper,
  { runId, stepId, attempt, base }: BuildStepRequested,
  { slot, mirror }: Workplace,
  message: string,
  memory?: WorkspaceMemory,
): Promise<CapturedChange> {
  return slot.whileQuiet(() =>
    captureChange(mirror, {
      base: base.commit,
      directory: slot.directory,
      message,
      occasion: { runId, stepId, attempt },
      at: clock(),
      ...(memory === undefined ? {} : { memory }),
    }),
  );
}

/** The name holds the commit: the same content captured again is another commit, and no bundle is ever put over. */
async function storeBundle(
  { bundles }: ChangeKeeper,
  { runId, stepId, attempt, base }: BuildStepRequested,
  { mirror }: Workplace,
  commit: CommitId,
): Promise<string> {
  const name = `${runId}/${stepId}/${attempt}/${commit}`;
  await bundles.put(name, await createBundle(mirror, { commit, exclude: [base.commit] }));
  return name;
}

function firstLine(goal: string): string {
  return goal.trim().split('\n', 1)[0] ?? '';
}
