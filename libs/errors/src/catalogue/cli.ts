import { defineError } from '../flotilla-error.ts';

export const cliErrors = {
  fleetNotFound: defineError({
    code: 'FLEET_NOT_FOUND',
    remedy: 'caller',
    status: 503,
    summary: 'No running fleet is known here',
    advice:
      'Start one with "npm start" in its clone, or name one with --url URL --fleet-token-file FILE or with FLOTILLA_URL and FLOTILLA_TOKEN.',
  }),
  fleetsSeveral: defineError({
    code: 'FLEETS_SEVERAL',
    remedy: 'caller',
    summary: 'Several fleets run on this machine: {urls}',
    advice: 'Say which one with --url URL, or run the command inside the clone that it was started from.',
  }),
  fleetElsewhere: defineError({
    code: 'FLEET_ELSEWHERE',
    remedy: 'caller',
    status: 503,
    summary: 'The fleet of {home} does not run; running is {running}',
    advice: 'Start it with "npm start", or say that the other one is meant with --url URL or FLOTILLA_URL.',
  }),
  fleetNotReady: defineError({
    code: 'FLEET_NOT_READY',
    remedy: 'wait',
    summary: 'The fleet at {url} does not reach {missing}',
    advice: 'See its log; it goes on by itself as soon as that answers again.',
  }),
  fleetTokenMissing: defineError({
    code: 'FLEET_TOKEN_MISSING',
    remedy: 'caller',
    summary: 'There is no usable token for {url}: {reason}',
    advice: 'Give it with --fleet-token-file FILE or in FLOTILLA_TOKEN; its operator has it.',
  }),
  fleetUnreachable: defineError({
    code: 'FLEET_UNREACHABLE',
    remedy: 'wait',
    summary: 'The fleet at {url} cannot be reached: {reason}',
    advice: 'Check that it runs and that this is its address.',
  }),
  fleetAnswerUnreadable: defineError({
    code: 'FLEET_ANSWER_UNREADABLE',
    remedy: 'operator',
    summary: 'What answers at {url} does not speak this API: {reason}',
    advice: 'Check the address, and use a command line of the same version as the fleet.',
  }),
  usageInvalid: defineError({
    code: 'USAGE_INVALID',
    remedy: 'caller',
    summary: '{reason}',
    advice: 'See "flotilla {verb} --help".',
  }),
  commandInvalid: defineError({
    code: 'COMMAND_INVALID',
    remedy: 'caller',
    summary: '{reason}',
    advice: 'See "flotilla --help" for every verb, and its own --help for what a verb takes.',
  }),
  fleetAddressInvalid: defineError({
    code: 'FLEET_ADDRESS_INVALID',
    remedy: 'caller',
    summary: '{url} is not an http or https URL',
    advice: 'Give the address that the fleet prints when it starts, in --url or FLOTILLA_URL.',
  }),
  outputFailed: defineError({
    code: 'OUTPUT_FAILED',
    remedy: 'caller',
    summary: 'Standard output cannot be written: {reason}',
    advice: 'Write to a place that has room; what the command did to the fleet is done.',
  }),
  fileNotWritten: defineError({
    code: 'FILE_NOT_WRITTEN',
    remedy: 'caller',
    summary: 'The file {file} cannot be written: {reason}',
    advice: 'Name a file in a directory that is there, has room and may be written to.',
  }),
  gateNotOpen: defineError({
    code: 'GATE_NOT_OPEN',
    remedy: 'caller',
    status: 409,
    summary: 'The run {runId} asks nothing just now: it is {state}',
    advice: 'There is nothing to decide: {next}.',
  }),
  commitDiffers: defineError({
    code: 'COMMIT_DIFFERS',
    remedy: 'caller',
    status: 409,
    summary: 'The gate asks about the commit {asked}, not about {given}',
    advice: 'Look at "flotilla diff {runId}" and decide on its commit.',
  }),
  credentialNotLocal: defineError({
    code: 'CREDENTIAL_NOT_LOCAL',
    remedy: 'caller',
    summary: 'The fleet at {url} does not run on this machine, and a secret is never sent over HTTP',
    advice:
      'Have its operator write {file} into the directory "credentials" of its data directory with mode 0600, then give --credential {name}.',
  }),
  credentialUnusable: defineError({
    code: 'CREDENTIAL_UNUSABLE',
    remedy: 'caller',
    summary: 'The credential cannot be used: {reason}',
    advice:
      'Give a token with --token-file or --token-env for an https remote, or a private key with --ssh-key for an ssh remote.',
  }),
  failureUnforeseen: defineError({
    code: 'FAILURE_UNFORESEEN',
    remedy: 'operator',
    summary: 'The command failed in a way that nobody foresaw: {reason}',
    advice: 'Run "flotilla doctor", and report this with what it says.',
  }),
} as const;
