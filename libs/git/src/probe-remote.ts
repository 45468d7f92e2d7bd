import { judgeRemoteFailure } from './remote-failure.ts';
import { reachRemote, type RemoteAccess } from './remote-access.ts';
import { describeRemote } from './remote.ts';
import { resolveBranch, type ResolvedBranch } from './resolve-branch.ts';
import type { RunGit } from './run-git.ts';

/** Asks a remote for a branch, by default its default branch, without a mirror. Throws what resolveBranch throws. */
export async function probeRemote(
  git: RunGit,
  access: RemoteAccess,
  options: { readonly branch?: string | undefined; readonly signal?: AbortSignal | undefined } = {},
): Promise<ResolvedBranch> {
  const { settings, variables, secrets } = reachRemote(access);
  const remote = {
    access,
    remoteName: describeRemote(access.remote),
    runRemote: async (call: { readonly args: readonly string[] }) => {
      const answer = await git({
        ...call,
        settings,
        variables,
        secrets,
        signal: options.signal,
        timeLimitMs: 90_000,
        accept: 'any',
      });
      if (answer.exitCode !== 0) throw judgeRemoteFailure(access.remote, answer.complaint);
      return answer;
    },
  };
  return resolveBranch(remote, options.branch);
}
