import { defineError } from '../flotilla-error.ts';

export const hostErrors = {
  settingsInvalid: defineError({
    code: 'SETTINGS_INVALID',
    remedy: 'operator',
    summary: 'The {service} cannot start with its settings: {problems}',
    advice: 'Set what is named, as infra/reference/settings.md describes, and start it again.',
  }),
  healthAddressUnusable: defineError({
    code: 'HEALTH_ADDRESS_UNUSABLE',
    remedy: 'operator',
    summary: 'Health cannot be served on {host}:{port}: {reason}',
    advice: 'Set FLOTILLA_HEALTH_HOST and FLOTILLA_HEALTH_PORT to an address that is free, or stop what uses it.',
  }),
  settingMissing: defineError({
    code: 'SETTING_MISSING',
    remedy: 'operator',
    summary: '{variable} is not set',
    advice: 'Set {variable} and start again; infra/reference/settings.md describes it.',
  }),
  runCancelled: defineError({
    code: 'RUN_CANCELLED',
    remedy: 'caller',
    summary: 'The run {runId} was asked to stop',
    advice: 'Nothing to do; retry the run to begin again.',
  }),
  diskFull: defineError({
    code: 'DISK_FULL',
    remedy: 'wait',
    summary: 'There is no room left on the disk: {reason}',
    advice: "Free room on the disk of the service's data directory; the work goes on by itself.",
  }),
  deadlinePassed: defineError({
    code: 'DEADLINE_PASSED',
    remedy: 'caller',
    summary: 'The step had time until {deadline}',
    advice: 'Submit the task again with more time, or split it.',
  }),
} as const;
