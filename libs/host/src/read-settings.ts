import type { ServiceName } from '@flotilla/contracts/services';
import type { SettingDefinition } from '@flotilla/contracts/define-setting';
import { settings as definitions, type Settings } from '@flotilla/contracts/settings';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Reads every setting. An empty variable counts as not set. Throws SETTINGS_INVALID, which names all that is wrong at once. */
export function readSettings(environment: Environment, service: ServiceName): Settings {
  const problems: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, definition] of Object.entries<SettingDefinition>(definitions)) {
    const text = environment[definition.variable];
    const given = text === undefined || text.trim() === '' ? undefined : text;
    const parsed = definition.schema.safeParse(given);
    if (!parsed.success)
      problems.push(`${definition.variable} must be ${parsed.error.issues.map(({ message }) => message).join(', ')}`);
    else if (parsed.data === undefined && isRequired(definition, service))
      problems.push(`${definition.variable} is not set (${definition.summary})`);
    else values[name] = parsed.data;
  }
  if (problems.length > 0) throw new FlotillaError(errors.settingsInvalid, { service, problems: problems.join('; ') });
  // Every name of the definitions was read by its own schema just above.
  return values as Settings;
}

/** The value of a setting that may be left out; throws SETTING_MISSING where it was. */
export function requireSetting<Name extends keyof Settings>(
  settings: Settings,
  name: Name,
): NonNullable<Settings[Name]> {
  const value = settings[name];
  if (value !== undefined) return value;
  const { variable, summary } = definitions[name];
  throw new FlotillaError(errors.settingMissing, { variable, summary });
}

/** Values that must appear nowhere: the secrets among the settings, and the passwords inside the URLs of any variable, as written and as meant. */
export function secretsOf(environment: Environment): readonly string[] {
  const keys = Object.values<SettingDefinition>(definitions)
    .filter(({ secret }) => secret)
    .map(({ variable }) => environment[variable]?.trim() ?? '')
    // Of an address only the password is secret.
    .filter((value) => !/^[a-z]+:\/\//.test(value));
  const passwords = Object.values(environment).flatMap((value = '') =>
    [...value.matchAll(passwordInUrl)].flatMap(([, written = '']) => [written, decodePercent(written)]),
  );
  return [...new Set([...keys, ...passwords])].filter((value) => value.length >= shortestSecret);
}

/** Shorter ones would take ordinary words out of texts. */
const shortestSecret = 6;
const passwordInUrl = /:\/\/[^\s/?#:@]*:([^\s/?#@]+)@/g;

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function isRequired({ requiredBy }: SettingDefinition, service: ServiceName): boolean {
  return requiredBy === 'all' || (requiredBy?.includes(service) ?? false);
}
