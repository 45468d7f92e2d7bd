import { RunId, type CommitId } from '@flotilla/contracts/ids';
import type { LockedMirror, Mirror } from './mirror.ts';

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

/** Lets go of every commit of a run. Safe to repeat. */
export async function unpinRun(mirror: Mirror, runId: RunId): Promise<void> {
  await mirror.withLock(async (locked) => {
    const refs = await listRefs(locked, namespaceOf(runId));
    await updateRefs(
      locked,
      refs.map((ref) => `delete ${ref}\0\0`),
    );
  });
}

function namespaceOf(runId: RunId): string {
  return `refs/flotilla/${RunId.parse(runId)}/`;
}

/** Full names of the refs under a namespace of ours. */
export async function listRefs(
  mirror: LockedMirror,
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
export async function updateRefs(mirror: LockedMirror, instructions: readonly string[]): Promise<void> {
  if (instructions.length === 0) return;
  await mirror.run({ args: ['update-ref', '--no-deref', '-z', '--stdin'], input: instructions.join('') });
}
