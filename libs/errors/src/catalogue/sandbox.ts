import { defineError } from '../flotilla-error.ts';

export const sandboxErrors = {
  dockerUnavailable: defineError({
    code: 'DOCKER_UNAVAILABLE',
    remedy: 'wait',
    summary: 'The Docker engine does not answer: {reason}',
    advice: 'Start the Docker engine, or set DOCKER_HOST to one that answers; the step goes on by itself.',
  }),
  sandboxImageMissing: defineError({
    code: 'SANDBOX_IMAGE_MISSING',
    remedy: 'operator',
    summary: 'The Docker engine has no sandbox image {image}',
    advice: 'Build or load the image on this engine; `flotilla doctor` says which one is expected.',
  }),
  slotsExhausted: defineError({
    code: 'SLOTS_EXHAUSTED',
    remedy: 'wait',
    summary: 'All {limit} sandbox slots of this service are in use',
    advice: 'Wait for a step to end, or raise the number of slots; the step goes on by itself.',
  }),
  slotLost: defineError({
    code: 'SLOT_LOST',
    remedy: 'retry',
    summary: 'The container of slot {slot} is gone: {reason}',
    advice: 'Let the step run again in a fresh slot.',
  }),
  slotDirectoryForeign: defineError({
    code: 'SLOT_DIRECTORY_FOREIGN',
    remedy: 'operator',
    summary: 'The directory {directory} was not made for the sandbox slots of this installation: {reason}',
    advice: 'Name an empty directory, or one that this installation made.',
  }),
  commandRefused: defineError({
    code: 'COMMAND_REFUSED',
    remedy: 'caller',
    summary: 'The command cannot be run: {reason}',
    advice: 'Change the command and call again.',
  }),
  pathRefused: defineError({
    code: 'PATH_REFUSED',
    remedy: 'caller',
    summary: 'The path {path} is refused: {reason}',
    advice: 'Name a path inside the workspace that leads there without symbolic links.',
  }),
  fileMissing: defineError({
    code: 'FILE_MISSING',
    remedy: 'caller',
    summary: 'There is no {path} in the workspace',
    advice: 'List the directory to see what is there.',
    status: 404,
  }),
  fileKindWrong: defineError({
    code: 'FILE_KIND_WRONG',
    remedy: 'caller',
    summary: '{path} is {kind}, not {expected}',
    advice: 'Name {expected}.',
  }),
  fileNotText: defineError({
    code: 'FILE_NOT_TEXT',
    remedy: 'caller',
    summary: '{path} is not UTF-8 text',
    advice: 'Look at it with a command that knows its format.',
  }),
  fileTooLarge: defineError({
    code: 'FILE_TOO_LARGE',
    remedy: 'caller',
    summary: '{path} has {sizeBytes} bytes, over the limit of {limitBytes}',
    advice: 'Read a part of it, or work on it with a command.',
  }),
  editRefused: defineError({
    code: 'EDIT_REFUSED',
    remedy: 'caller',
    summary: 'The edit of {path} was not made: {reason}',
    advice:
      'Read the file again and give a passage that occurs in it exactly once, with more lines around it if need be.',
  }),
  searchRefused: defineError({
    code: 'SEARCH_REFUSED',
    remedy: 'caller',
    summary: 'The search could not be made: {reason}',
    advice: 'Correct the pattern, or search for it as fixed text.',
  }),
  setupFailed: defineError({
    code: 'SETUP_FAILED',
    remedy: 'caller',
    summary: 'The dependency setup failed at `{command}` ({reason})',
    advice:
      'Read its last output with "flotilla show RUN"; correct the project or its lock file, or submit with --no-setup.',
  }),
  setupUnsupported: defineError({
    code: 'SETUP_UNSUPPORTED',
    remedy: 'caller',
    summary: 'The dependencies of this project cannot be set up: {reason}',
    advice: 'Name the setup commands in the project, use a sandbox image that has the tool, or submit with --no-setup.',
  }),
  setupTooLarge: defineError({
    code: 'SETUP_TOO_LARGE',
    remedy: 'caller',
    summary: 'The dependency setup left more than {limitBytes} bytes of ignored files',
    advice: 'Install less: name fewer dependencies, or give the commands with project add --setup.',
  }),
  setupNotLaid: defineError({
    code: 'SETUP_NOT_LAID',
    remedy: 'retry',
    summary: 'The dependencies of setup {key} could not be laid into the workspace: {reason}',
    advice: 'Let the step run again; if it happens again, remove the setup from the store so that it is made anew.',
  }),
  registryRefused: defineError({
    code: 'REGISTRY_REFUSED',
    remedy: 'operator',
    summary: 'The package registry URL cannot be used in a sandbox: {reason}',
    advice: 'Give an http or https URL without user name and password; a sandbox holds no credential.',
  }),
  doorRefused: defineError({
    code: 'DOOR_REFUSED',
    remedy: 'operator',
    summary: 'The door cannot be opened: {reason}',
    advice: 'Use the sandbox image of this release, and hosts with an optional port such as mirror.internal:8080.',
  }),
} as const;
