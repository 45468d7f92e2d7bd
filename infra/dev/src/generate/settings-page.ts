import type { SettingDefinition } from '@flotilla/contracts/define-setting';
import { settings } from '@flotilla/contracts/settings';
import { code, markdownPage, type Page, renderTable } from './page.ts';

export function settingsPage(): Page {
  return markdownPage('settings', 'Settings', 'libs/contracts/src/settings.ts', [
    'Every setting is an environment variable, read once when a service starts; whatever is wrong is named all at once. An empty variable counts as not set.',
    renderTable(
      ['Variable', 'Default', 'Needed by', 'Meaning'],
      Object.values<SettingDefinition>(settings).map((setting) => [
        code(setting.variable),
        describeDefault(setting),
        describeNeed(setting),
        `${setting.summary}${setting.secret === true ? ' Secret: never shown.' : ''}`,
      ]),
    ),
  ]);
}

function describeDefault({ schema, example }: SettingDefinition): string {
  const parsed = schema.safeParse(undefined);
  const isEmpty =
    !parsed.success || parsed.data === undefined || (Array.isArray(parsed.data) && parsed.data.length === 0);
  if (!isEmpty) return code(String(parsed.data));
  return example === undefined ? '' : `e.g. ${code(example)}`;
}

function describeNeed({ requiredBy, usedBy }: SettingDefinition): string {
  if (requiredBy === 'all') return 'every service';
  if (requiredBy !== undefined) return requiredBy.join(', ');
  return usedBy === undefined ? '' : `optional: ${usedBy.join(', ')}`;
}
