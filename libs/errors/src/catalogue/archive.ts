import { defineError } from '../flotilla-error.ts';

export const archiveErrors = {
  runArchived: defineError({
    code: 'RUN_ARCHIVED',
    remedy: 'caller',
    status: 409,
    summary: 'The run {runId} is archived: its log, gates and change lie in a file',
    advice: '"flotilla show {runId}" names the file, which zcat prints; for more work on its goal, submit a new task.',
  }),
  archiveRetryUnderWay: defineError({
    code: 'ARCHIVE_RETRY_UNDER_WAY',
    remedy: 'caller',
    status: 409,
    summary: 'The run {runId} is kept while {retry} does its task again',
    advice: 'Wait for the end of {retry}, or ask for it with "flotilla cancel {retry}", then archive the run.',
  }),
  archiveAgeMissing: defineError({
    code: 'ARCHIVE_AGE_MISSING',
    remedy: 'caller',
    summary: 'No run is named and no age is given, and this fleet archives none by itself',
    advice: 'Name runs, or say how old they must be, such as "flotilla archive --older-than 90d".',
  }),
  archiveDirectoryMissing: defineError({
    code: 'ARCHIVE_DIRECTORY_MISSING',
    remedy: 'operator',
    summary: 'The router has no directory to write archives in',
    advice: 'Set FLOTILLA_ARCHIVE_DIRECTORY for the router, or FLOTILLA_DATA_DIRECTORY, and start it again.',
  }),
  archiveNotWritten: defineError({
    code: 'ARCHIVE_NOT_WRITTEN',
    remedy: 'operator',
    summary: 'The archive of {runId} cannot be written: {reason}',
    advice: 'Make room and give the router write access below its archive directory; the run is as it was.',
  }),
  archiveLogChanged: defineError({
    code: 'ARCHIVE_LOG_CHANGED',
    remedy: 'wait',
    summary: 'The log of {runId} is not what was written to its archive: {reason}',
    advice: 'Archive the run again; nothing of it was removed.',
  }),
  archiveBusy: defineError({
    code: 'ARCHIVE_BUSY',
    remedy: 'wait',
    summary: 'The run {runId} is being archived by somebody else',
    advice:
      'See it with "flotilla show {runId}" in a moment; where its archiver died, after a minute it can be archived again.',
  }),
} as const;
