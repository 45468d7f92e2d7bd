import { defineError } from '../flotilla-error.ts';

export const bringUpErrors = {
  machineLockUnavailable: defineError({
    code: 'MACHINE_LOCK_UNAVAILABLE',
    remedy: 'operator',
    summary: 'The machine-wide lock {path} could not be taken: {reason}',
    advice: 'Install util-linux, which has the flock command, and make sure the directory can be written to.',
  }),
  packagesNotInstalled: defineError({
    code: 'PACKAGES_NOT_INSTALLED',
    remedy: 'operator',
    summary: 'apt could not install {packages}: {reason}',
    advice: 'Run "apt-get update && apt-get install {packages}" as root, put right what it says, and start again.',
  }),
  sandboxImageUnavailable: defineError({
    code: 'SANDBOX_IMAGE_UNAVAILABLE',
    remedy: 'operator',
    summary: 'The sandbox image could not be made: {reason}',
    advice:
      'Give the Docker engine a registry that has the base image of infra/docker/sandbox/Dockerfile, or run on Debian or Ubuntu as root with working apt sources, or load a ready image as {image}.',
  }),
} as const;
