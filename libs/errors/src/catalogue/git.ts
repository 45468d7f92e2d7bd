import { defineError } from '../flotilla-error.ts';

export const gitErrors = {
  remoteUrlRefused: defineError({
    code: 'REMOTE_URL_REFUSED',
    remedy: 'caller',
    summary: 'The remote address is refused: {reason}',
    advice:
      'Give https://host/path, ssh://user@host/path, user@host:path, file:///path or an absolute path, without a credential in it.',
  }),
  remoteCredentialMismatch: defineError({
    code: 'REMOTE_CREDENTIAL_MISMATCH',
    remedy: 'caller',
    summary: 'The credential does not fit the remote {remote}: {reason}',
    advice: 'Use a token with an http address and a key file with an ssh address.',
  }),
  remoteHostKeyChanged: defineError({
    code: 'REMOTE_HOST_KEY_CHANGED',
    remedy: 'operator',
    status: 422,
    summary: 'The host of {remote} shows another key than the one it showed first, or one that is not trusted',
    advice:
      'Somebody may stand in between: ask whoever runs the host; where the new key is right, remove the host from known_hosts in the credentials directory, then retry the run.',
  }),
  remoteCredentialRefused: defineError({
    code: 'REMOTE_CREDENTIAL_REFUSED',
    remedy: 'caller',
    summary: 'The remote {remote} refuses the credential: {reason}',
    advice: "Check that the project's credential is still valid and may read and write this repository, then retry.",
  }),
  remoteNotFound: defineError({
    code: 'REMOTE_NOT_FOUND',
    remedy: 'caller',
    summary: 'There is no repository at {remote}: {reason}',
    advice:
      'Check the address; a private repository also looks absent to a credential that may not read it, so check that too.',
  }),
  remoteNotCloneable: defineError({
    code: 'REMOTE_NOT_CLONEABLE',
    remedy: 'caller',
    summary: 'The remote {remote} cannot be read with git: {reason}',
    advice: 'Put right what the text says; the same `git ls-remote` from the host that runs the fleet shows it too.',
  }),
  remoteCertificateRefused: defineError({
    code: 'REMOTE_CERTIFICATE_REFUSED',
    remedy: 'operator',
    status: 422,
    summary: 'The certificate of {remote} is not trusted: {reason}',
    advice:
      'Name a PEM file with every certificate that git may trust in FLOTILLA_GIT_CERTIFICATES_FILE and start the fleet again, or install its authority on the host.',
  }),
  remoteRedirected: defineError({
    code: 'REMOTE_REDIRECTED',
    remedy: 'caller',
    summary: 'The remote {remote} redirects elsewhere, and redirects are never followed with a credential: {reason}',
    advice: 'Give the address that it redirects to; often it is the same one ending in .git.',
  }),
  remoteOwnedBySomeoneElse: defineError({
    code: 'REMOTE_OWNED_BY_SOMEONE_ELSE',
    remedy: 'caller',
    summary: 'The local repository {remote} belongs to another user than the one the fleet runs as',
    advice:
      'Make that user its owner, or reach the repository by ssh or https; git refuses it to protect against its hooks.',
  }),
  remoteUnreachable: defineError({
    code: 'REMOTE_UNREACHABLE',
    remedy: 'retry',
    status: 422,
    summary: 'The remote {remote} does not answer: {reason}',
    advice:
      'Check the network, the host name and the port; a step of a run is tried again by itself, and a project is added without asking its remote with "flotilla project add NAME --remote URL --unseen".',
  }),
  remoteEmpty: defineError({
    code: 'REMOTE_EMPTY',
    remedy: 'caller',
    summary: 'The repository {remote} has no commit yet',
    advice: 'Push a first commit, even one with only a README, then retry.',
  }),
  branchUnknown: defineError({
    code: 'BRANCH_UNKNOWN',
    remedy: 'caller',
    summary: 'The repository {remote} has no branch {branch}',
    advice: 'Name one of its branches: {branches}.',
  }),
  branchCheckedOut: defineError({
    code: 'BRANCH_CHECKED_OUT',
    remedy: 'caller',
    summary: 'The repository {remote} has the branch {branch} checked out, and git refuses pushes to that',
    advice:
      'Run "git -C {remote} config receive.denyCurrentBranch updateInstead", which moves its files along where nothing is changed there, or name a bare clone of it, or check out another branch there.',
  }),
  testsNotDetected: defineError({
    code: 'TESTS_NOT_DETECTED',
    remedy: 'caller',
    summary: 'The branch {branch} of {remote} tells no test command, and nothing lands without passing checks',
    advice:
      'Say how it is checked with "flotilla project add {project} --remote URL --replace --check COMMAND" and its other options, or accept landing without any check with --unchecked.',
  }),
  branchNameRefused: defineError({
    code: 'BRANCH_NAME_REFUSED',
    remedy: 'caller',
    summary: 'The branch name {branch} is refused: {reason}',
    advice: 'Give a branch name that `git check-ref-format --branch` accepts, without refs/heads/.',
  }),
  commitUnavailable: defineError({
    code: 'COMMIT_UNAVAILABLE',
    remedy: 'operator',
    summary: 'Neither the remote {remote} nor a stored bundle has the commit {commit}',
    advice:
      'The branch was rewritten, or the object store was lost: make it anew from the present head with "flotilla retry RUN".',
  }),
  objectsRefused: defineError({
    code: 'OBJECTS_REFUSED',
    remedy: 'caller',
    summary: 'Git objects are malformed or dangerous and were not taken: {reason}',
    advice: 'Run `git fsck --strict` in the source repository and repair what it names.',
  }),
  bundleRefused: defineError({
    code: 'BUNDLE_REFUSED',
    remedy: 'operator',
    summary: 'A stored bundle cannot be used: {reason}',
    advice: 'Retry the step that made it; the bundle is made anew.',
  }),
  bundlePrerequisiteMissing: defineError({
    code: 'BUNDLE_PREREQUISITE_MISSING',
    remedy: 'retry',
    summary: 'A stored bundle builds on commits that are not here: {commits}',
    advice: 'Make the named commits available in the mirror first; the step is tried again by itself.',
  }),
  changeRefused: defineError({
    code: 'CHANGE_REFUSED',
    remedy: 'caller',
    summary: 'The workspace holds something that cannot become a change: {reason}: {path}',
    advice: 'Remove or rename the named path in the workspace and finish again.',
  }),
  changeTooLarge: defineError({
    code: 'CHANGE_TOO_LARGE',
    remedy: 'caller',
    summary: 'The change is larger than the limit: {what}',
    advice:
      'Keep generated and downloaded files out of the change by naming them in .gitignore, or ask for a smaller change.',
  }),
  committedFileTooLarge: defineError({
    code: 'COMMITTED_FILE_TOO_LARGE',
    remedy: 'caller',
    summary: 'The file {path} has more than {limitBytes} bytes',
    advice: 'Ask for a smaller file.',
  }),
  mirrorBusy: defineError({
    code: 'MIRROR_BUSY',
    remedy: 'wait',
    summary: 'Another process holds the mirror of {remote}',
    advice: 'Nothing to do: the step goes on when the other process is done with it.',
  }),
  mirrorDiskFull: defineError({
    code: 'MIRROR_DISK_FULL',
    remedy: 'wait',
    summary: 'The disk that holds the mirrors is full',
    advice: 'Free room on it; the work goes on by itself. Mirrors are caches and may be removed while no service runs.',
  }),
  gitMissing: defineError({
    code: 'GIT_MISSING',
    remedy: 'operator',
    summary: 'The git program cannot be started: {reason}',
    advice: 'Install git 2.39 or newer on the host (and in the service image), with flock from util-linux beside it.',
  }),
  gitTimedOut: defineError({
    code: 'GIT_TIMED_OUT',
    remedy: 'retry',
    summary: 'git {command} did not end within {seconds} s and was stopped',
    advice: 'Check the remote and the load of the host; the step is tried again by itself.',
  }),
  gitOutputTooLarge: defineError({
    code: 'GIT_OUTPUT_TOO_LARGE',
    remedy: 'operator',
    summary: 'git {command} wrote more than {limitBytes} bytes and was stopped',
    advice: 'The repository is larger than the fleet handles: split it, or split the task.',
  }),
  gitFailed: defineError({
    code: 'GIT_FAILED',
    remedy: 'retry',
    summary: 'git {command} failed with exit code {exitCode}: {reason}',
    advice: 'Read the text; the step is tried again by itself, and the mirror may be removed as it is only a cache.',
  }),
} as const;
