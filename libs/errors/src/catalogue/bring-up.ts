import { defineError } from '../flotilla-error.ts';

export const bringUpErrors = {
  alreadyRunning: defineError({
    code: 'ALREADY_RUNNING',
    remedy: 'caller',
    summary: 'Process {pid} already runs the servers of {directory}',
    advice: 'Use the one that runs, or stop process {pid} first.',
    status: 409,
  }),
  backupFailed: defineError({
    code: 'BACKUP_FAILED',
    remedy: 'operator',
    summary: '{program} failed: {reason}',
    advice:
      'Put right what it says; it must not be older than the server (package postgresql-client), and a restore needs an empty database. What it began is no backup.',
  }),
  dockerMissing: defineError({
    code: 'DOCKER_MISSING',
    remedy: 'operator',
    summary: 'There is no Docker engine to run sandboxes in: {reason}',
    advice:
      'Start a Docker engine that you may use, or set DOCKER_HOST to one, or run as root where dockerd is installed or apt can install it; commands of agents never run outside a container.',
  }),
  lockUnavailable: defineError({
    code: 'LOCK_UNAVAILABLE',
    remedy: 'operator',
    summary: 'The lock {path} could not be taken: {reason}',
    advice: 'Install util-linux, which has the flock command, and make sure that the directory can be written to.',
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
  publisherNameRefused: defineError({
    code: 'PUBLISHER_NAME_REFUSED',
    remedy: 'operator',
    summary: '{name} cannot be a publisher of the queue: {reason}',
    advice: 'Give the publisher another name.',
  }),
  publishersUnusable: defineError({
    code: 'PUBLISHERS_UNUSABLE',
    remedy: 'operator',
    summary: 'The publishers in {file} cannot be used: {reason}',
    advice: 'Correct the file: a list of {"name", "password"}, readable for its owner alone.',
  }),
  serverDataUnreadable: defineError({
    code: 'SERVER_DATA_UNREADABLE',
    remedy: 'operator',
    summary: 'The data of {server} was written by version {dataVersion}, and this machine has {found}',
    advice: 'Install version {dataVersion}, or move the data away to start with none.',
  }),
  serverMissing: defineError({
    code: 'SERVER_MISSING',
    remedy: 'operator',
    summary: 'There is no {server}: {reasons}',
    advice:
      'Set {variable} to one that runs, or put its program on PATH, or give the Docker engine a registry and docker compose, or run as root where apt-get can install it.',
  }),
  serverNotStarted: defineError({
    code: 'SERVER_NOT_STARTED',
    remedy: 'operator',
    summary: '{server} could not be started: {reason}',
    advice: 'Read {log}, put right what it says, and start again.',
  }),
  serverPasswordForeign: defineError({
    code: 'SERVER_PASSWORD_FOREIGN',
    remedy: 'operator',
    summary: 'The data of {server} in {directory} was made with another password than the one in {file}',
    advice:
      'Put back {file} as it was when that data was made, from the same backup, and secrets.json beside it; or move {directory} away to start without its data.',
  }),
  serverSilent: defineError({
    code: 'SERVER_SILENT',
    remedy: 'operator',
    summary: '{variable} is set, but {server} does not answer there: {reason}',
    advice: 'Start that {server}, correct {variable}, or unset it to have one brought up.',
  }),
} as const;
