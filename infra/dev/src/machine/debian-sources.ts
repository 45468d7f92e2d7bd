import { readFile } from 'node:fs/promises';
import { runCommand } from '../run-command.ts';

export interface DebianSources {
  /** The release that this machine runs: "bookworm". */
  readonly suite: string;
  /** One-line apt sources of that release, its updates and its security fixes. */
  readonly lines: readonly string[];
  /** apt options that reach those sources (proxies). May hold a password: never to be kept in an image. */
  readonly options: readonly string[];
}

/** What apt on this machine installs its own release from; `undefined` where there is no apt or it has no such source. */
export async function readDebianSources(signal?: AbortSignal): Promise<DebianSources | undefined> {
  const options = signal === undefined ? {} : { signal };
  const format = '$(REPO_URI)|$(RELEASE)|$(COMPONENT)';
  const targets = await runCommand('apt-get', ['indextargets', '--format', format, 'Created-By: Packages'], options);
  const configuration = await runCommand('apt-config', ['dump'], options);
  const release = await readFile('/etc/os-release', 'utf8').catch(() => '');
  const codename = /^VERSION_CODENAME=(\S+)/m.exec(release)?.[1];
  return targets.code === 0 ? selectSources(targets.stdout, configuration.stdout, codename) : undefined;
}

/**
 * Keeps the targets ("uri|release|component" lines) of the release named `codename` and of its -updates and -security;
 * where no source has that name ("stable"), of the release of the first source.
 */
export function selectSources(
  targets: string,
  configuration: string,
  codename: string | undefined,
): DebianSources | undefined {
  const all = targets.split('\n').flatMap((line) => {
    const [uri, release, component] = line.split('|');
    return uri !== undefined && release !== undefined && component !== undefined ? [{ uri, release, component }] : [];
  });
  const suite = all.find(({ release }) => release === codename)?.release ?? all[0]?.release.split('-')[0];
  if (suite === undefined) return undefined;
  const wanted = new Set([suite, `${suite}-updates`, `${suite}-security`]);
  const lines = new Set(
    all
      .filter(({ release }) => wanted.has(release))
      .map(({ uri, release, component }) => `deb ${uri} ${release} ${component}`),
  );
  const options = configuration.split('\n').filter((line) => /^Acquire::(http|https|ftp)::Proxy/i.test(line));
  return { suite, lines: [...lines], options };
}
