import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';

/** The package registries that the host's own tools are configured with, as URLs; read at run time by the caller. */
export interface Registries {
  readonly npm?: string;
  readonly pip?: string;
}

/**
 * What setup commands get in their environment, and the hosts their door has to allow. Throws REGISTRY_REFUSED for a URL that
 * is not http(s) or carries a user name or password: a sandbox holds no credential.
 */
export function registryEnvironment(registries: Registries): {
  readonly environment: Readonly<Record<string, string>>;
  readonly hosts: readonly string[];
} {
  const npm = registries.npm === undefined ? undefined : parseRegistry(registries.npm);
  const pip = registries.pip === undefined ? undefined : parseRegistry(registries.pip);
  return {
    environment: {
      ...(npm && { npm_config_registry: npm.href }),
      ...(pip && { PIP_INDEX_URL: pip.href }),
    },
    hosts: [...new Set([npm, pip].filter((url) => url !== undefined).map(hostWithPort))],
  };
}

function parseRegistry(text: string): URL {
  if (!URL.canParse(text)) throw refused('it is not a URL');
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw refused(`its scheme is ${url.protocol}`);
  if (url.username !== '' || url.password !== '') throw refused('it holds a user name or a password');
  return url;
}

function hostWithPort(url: URL): string {
  const usualPort = url.protocol === 'https:' ? '443' : '80';
  return `${url.hostname}:${url.port === '' ? usualPort : url.port}`;
}

function refused(reason: string): FlotillaError {
  return new FlotillaError(errors.registryRefused, { reason });
}
