import { defineError } from '../flotilla-error.ts';

export const hostErrors = {
  settingsInvalid: defineError({
    code: 'SETTINGS_INVALID',
    remedy: 'operator',
    summary: 'The {service} cannot start with its settings: {problems}',
    advice: 'Set what is named, as infra/reference/settings.md describes, and start it again.',
  }),
  settingMissing: defineError({
    code: 'SETTING_MISSING',
    remedy: 'operator',
    summary: '{variable} is not set',
    advice: 'Set {variable}: {summary}',
  }),
} as const;
