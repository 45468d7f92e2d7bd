export type GitSetting = readonly [name: string, value: string];

/** Where git and ssh are looked for when nothing else is said. */
export const defaultProgramPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/**
 * Settings of every call. They are given as environment configuration, which outranks every file, so that a repository's
 * own configuration cannot undo them and no value shows in a process list.
 */
const fixedSettings: readonly GitSetting[] = [
  ['core.hooksPath', '/dev/null'],
  ['core.fsmonitor', 'false'],
  ['core.attributesFile', '/dev/null'],
  ['core.excludesFile', '/dev/null'],
  ['core.askPass', ''],
  ['core.protectHFS', 'true'],
  ['core.protectNTFS', 'true'],
  ['core.quotePath', 'false'],
  ['core.untrackedCache', 'false'],
  ['core.ignoreCase', 'false'],
  ['core.precomposeUnicode', 'false'],
  ['core.autocrlf', 'false'],
  ['attr.tree', ''],
  ['credential.helper', ''],
  ['protocol.allow', 'never'],
  ['protocol.version', '2'],
  ['safe.bareRepository', 'explicit'],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  ['init.defaultBranch', 'main'],
  ['submodule.recurse', 'false'],
  ['commit.gpgSign', 'false'],
  ['log.showSignature', 'false'],
  ['http.followRedirects', 'false'],
  ['http.lowSpeedLimit', '1'],
  ['http.lowSpeedTime', '60'],
  ['diff.ignoreSubmodules', 'none'],
  // Naming a graft file, which is what keeps a repository's own from being read, is itself worth a hint of ten lines.
  ['advice.graftFileDeprecated', 'false'],
  ['merge.renormalize', 'false'],
];

/** Builds git's whole environment from nothing: no system, global or user configuration, no prompt, no protocol. */
export function gitEnvironment(options: {
  readonly programPath: string;
  readonly settings?: readonly GitSetting[] | undefined;
  readonly variables?: Readonly<Record<string, string>> | undefined;
}): Readonly<Record<string, string>> {
  const settings = [...fixedSettings, ...(options.settings ?? [])];
  const environment: Record<string, string> = {
    PATH: options.programPath,
    HOME: '/dev/null',
    LC_ALL: 'C',
    TZ: 'UTC',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_GRAFT_FILE: '/dev/null',
    GIT_NO_LAZY_FETCH: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_ALLOW_PROTOCOL: '',
    GIT_PAGER: 'cat',
    GIT_EDITOR: 'false',
    GIT_CEILING_DIRECTORIES: '/',
    GIT_ADVICE: '0',
    ...options.variables,
    GIT_CONFIG_COUNT: String(settings.length),
  };
  for (const [index, [name, value]] of settings.entries()) {
    environment[`GIT_CONFIG_KEY_${index}`] = name;
    environment[`GIT_CONFIG_VALUE_${index}`] = value;
  }
  return environment;
}
