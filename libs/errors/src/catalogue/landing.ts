import { defineError } from '../flotilla-error.ts';

/** What can go wrong between an approved change and the remote's branch, and in the checks that let it land. */
export const landingErrors = {
  mergeLeaseHeld: defineError({
    code: 'MERGE_LEASE_HELD',
    remedy: 'wait',
    summary: 'Another landing on {lane} is under way',
    advice: 'Nothing to do; the landing goes on by itself when the other one has ended.',
  }),
  mergeLeaseUnavailable: defineError({
    code: 'MERGE_LEASE_UNAVAILABLE',
    remedy: 'wait',
    summary: 'Redis, which keeps landings apart, does not answer: {reason}',
    advice: 'Start Redis, or set REDIS_URL to one that answers; the landing goes on by itself.',
  }),
  mergeLeaseLost: defineError({
    code: 'MERGE_LEASE_LOST',
    remedy: 'wait',
    summary: 'The lease for the landing on {lane} was lost before anything was pushed: {reason}',
    advice: 'Nothing to do; the landing is tried again.',
  }),
  branchKeepsMoving: defineError({
    code: 'BRANCH_KEEPS_MOVING',
    remedy: 'retry',
    summary: 'The branch {branch} moved {times} times while the change was being landed',
    advice: 'Nothing to do; the landing is tried again later.',
  }),
  branchGone: defineError({
    code: 'BRANCH_GONE',
    remedy: 'caller',
    summary: 'The branch {branch} of {remote} was there when the run began and is gone',
    advice:
      'Push the branch again, then ask for the task again with "flotilla retry {runId}"; "flotilla diff {runId}" has the change.',
  }),
  pushRefused: defineError({
    code: 'PUSH_REFUSED',
    remedy: 'caller',
    summary: 'The remote refuses the push to {branch}: {reason}',
    advice: '{hint}.',
  }),
  landingUnconfirmed: defineError({
    code: 'LANDING_UNCONFIRMED',
    remedy: 'wait',
    summary: 'The commit {commit} was pushed to {branch}, which cannot be asked whether it landed: {reason}',
    advice:
      'Make the branch readable for the fleet again; the landing goes on by itself with what the branch then says.',
  }),
  landingUnknown: defineError({
    code: 'LANDING_UNKNOWN',
    remedy: 'retry',
    summary: 'The change may have landed: {commit} was pushed to {branch}, and the branch cannot be read: {reason}',
    advice:
      'Look whether {branch} has {commit}; where it has not, give the task anew with "flotilla submit", since this run is not tried again.',
  }),
  landedTreeUnproven: defineError({
    code: 'LANDED_TREE_UNPROVEN',
    remedy: 'operator',
    summary: 'The commit {commit} has the tree {tree}, for which no checks have passed',
    advice:
      'It was pushed, so look at the branch and take it back there if it is not good; report this with the log of the run, because the fleet must never come here.',
  }),
  credentialMissing: defineError({
    code: 'CREDENTIAL_MISSING',
    remedy: 'operator',
    status: 422,
    summary: 'The credential {name} of the project does not exist',
    advice: 'Write {path} with mode 600, then ask again.',
  }),
  credentialExposed: defineError({
    code: 'CREDENTIAL_EXPOSED',
    remedy: 'operator',
    status: 422,
    summary: 'Others than its owner may read {path} (mode {mode})',
    advice: 'Run "chmod 600 {path}", consider the secret known to others, then retry the run.',
  }),
  credentialUnreadable: defineError({
    code: 'CREDENTIAL_UNREADABLE',
    remedy: 'operator',
    status: 422,
    summary: 'The credential {name} cannot be used: {reason}',
    advice:
      'Write {path} as {"kind":"token","host":"…","token":"…"} or as {"kind":"ssh","host":"…","keyFile":"…"}, then retry the run.',
  }),
  credentialForOtherHost: defineError({
    code: 'CREDENTIAL_FOR_OTHER_HOST',
    remedy: 'caller',
    summary: 'The credential {name} is for {host} and the remote is at {remoteHost}',
    advice: 'Name a credential for {remoteHost} in the project, or correct its remote.',
  }),
  checksNotFound: defineError({
    code: 'CHECKS_NOT_FOUND',
    remedy: 'caller',
    summary: 'The project {project} declares no checks and none were detected',
    advice:
      'Name the commands that must pass with `flotilla project add {project} --remote URL --check "COMMAND" --replace`, also where this task is to add the first tests; or give --unchecked in the place of --check, if its owner accepts changes that nothing has tested.',
  }),
} as const;
