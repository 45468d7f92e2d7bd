import { RunId, type CommitId } from '@flotilla/contracts/ids';
import type { Mirror, MirrorFiles } from './mirror.ts';

/** Keeps a commit of a run from being collected: `refs/flotilla/<run>/<commit>`. Safe to repeat. */
export async function pinCommit(mirror: Mirror, runId: RunId, commit: CommitId): Promise<void> {
  const ref = `${namespaceOf(runId)}${commit}`;
  const known = await mirror.run({
    args: ['rev-parse', '--quiet', '--verify', '--end-of-options', ref],
    accept: [0, 1],
  });
  if (known.exitCode === 0) return;
  await mirror.withLock((locked) => updateRefs(locked, [`create ${ref}\0${commit}\0`]));
}

/** Lets go of every commit of these runs. Safe to repeat. */
export async function unpinRuns(locked: MirrorFiles, runIds: readonly RunId[]): Promise<void> {
  if (runIds.length === 0) return;
  const spent = new Set<string>(runIds);
  const refs = await listRefs(locked, pinned);
  await updateRefs(
    locked,
    refs.filter((ref) => spent.has(runOf(ref))).map((ref) => `delete ${ref}\0\0`),
  );
}

/** The runs that have commits pinned here. */
export async function listPinnedRuns(mirror: MirrorFiles): Promise<readonly RunId[]> {
  const refs = await listRefs(mirror, pinned);
  return [...new Set(refs.map((ref) => RunId.parse(runOf(ref))))];
}

const pinned = 'refs/flotilla/';

function runOf(ref: string): string {
  const [run = ''] = ref.slice(pinned.length).split('/', 1);
  return run;
}

function namespaceOf(runId: RunId): string {
  return `${pinned}${RunId.parse(runId)}/`;
}

/** Full names of the refs under a namespace of ours. */
export async function listRefs(
  mirror: MirrorFiles,
  namespace: string,
  ...options: readonly string[]
): Promise<readonly string[]> {
  const answer = await mirror.run({ args: ['for-each-ref', '--format=%(refname)', ...options, namespace] });
  return answer.stdout
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '');
}

/** Carries out instructions of `git update-ref -z --stdin`, all or none. */
export async function updateRefs(mirror: MirrorFiles, instructions: readonly string[]): Promise<void> {
  if (instructions.length === 0) return;
  await mirror.run({ args: ['update-ref', '--no-deref', '-z', '--stdin'], input: instructions.join('') });
}
