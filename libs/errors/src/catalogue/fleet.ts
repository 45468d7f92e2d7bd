import { defineError } from '../flotilla-error.ts';

export const fleetErrors = {
  packageUnavailable: defineError({
    code: 'PACKAGE_UNAVAILABLE',
    remedy: 'operator',
    summary: 'The package {package} could not be taken from the package registry: {reason}',
    advice: 'Run "npm pack {package}" to see what the registry says, put it right, and try again.',
  }),
  dataDirectoryUnusable: defineError({
    code: 'DATA_DIRECTORY_UNUSABLE',
    remedy: 'operator',
    summary: '{directory} cannot be the data directory of a fleet: {reason}',
    advice: 'Name with --data a directory that you may write to, or one that can be made.',
  }),
  buildFailed: defineError({
    code: 'BUILD_FAILED',
    remedy: 'operator',
    summary: 'The services could not be compiled: {reason}',
    advice: 'Run "npm run build" and correct what the compiler names.',
  }),
  serviceNotReady: defineError({
    code: 'SERVICE_NOT_READY',
    remedy: 'operator',
    summary: 'The {service} did not become ready within {seconds} s: {reason}',
    advice: 'Read its log at {log}; its last lines say what it waits for.',
  }),
  serviceCannotStart: defineError({
    code: 'SERVICE_CANNOT_START',
    remedy: 'operator',
    summary: 'The {service} cannot start: {cause}: {reason}',
    advice: '{remedy} Then start again.',
  }),
  serviceKeepsEnding: defineError({
    code: 'SERVICE_KEEPS_ENDING',
    remedy: 'operator',
    summary: 'The {service} ended {times} times in a row, last with {how}',
    advice: 'Read its log at {log}, put right what its last lines say, and start again.',
  }),
  demoRunning: defineError({
    code: 'DEMO_RUNNING',
    remedy: 'caller',
    summary: 'Process {pid} already runs the fleet of {directory}',
    advice:
      'Look at it with "npx flotilla list", stop it with "{stop}", or give this demo a directory of its own with --data.',
    status: 409,
  }),
  taskRefused: defineError({
    code: 'TASK_REFUSED',
    remedy: 'caller',
    summary: 'The task that was published did not become a run: {reason}',
    advice: 'Correct the task as the reason says and publish it again.',
  }),
  commandFailed: defineError({
    code: 'COMMAND_FAILED',
    remedy: 'operator',
    summary: '"{command}" failed: {reason}',
    advice: 'Put right what the reason names and run it again.',
  }),
} as const;
