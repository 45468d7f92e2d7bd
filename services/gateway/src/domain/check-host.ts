import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';

export interface HostFacts {
  readonly host: string | undefined;
  readonly origin: string | undefined;
  /** Names this gateway answers to, without port; undefined where any will do. */
  readonly allowedHosts: readonly string[] | undefined;
}

export const loopbackHosts = ['localhost', '127.0.0.1', '[::1]'] as const;

/**
 * Against pages of other sites: a name that resolves to this machine but is not its own (DNS rebinding) and a page of
 * another origin are refused, whatever token they hold. Throws HOST_REFUSED or ORIGIN_REFUSED.
 */
export function checkHost({ host, origin, allowedHosts }: HostFacts): void {
  const name = host === undefined ? undefined : nameOf(host);
  if (allowedHosts !== undefined && (name === undefined || !allowedHosts.includes(name))) {
    throw new FlotillaError(errors.hostRefused, { host: host ?? '', setting: 'FLOTILLA_ALLOWED_HOSTS' });
  }
  if (origin === undefined) return;
  const [, originHost] = /^https?:\/\/([^/]+)$/i.exec(origin) ?? [];
  if (originHost === undefined || host === undefined || originHost.toLowerCase() !== host.toLowerCase()) {
    throw new FlotillaError(errors.originRefused, { origin });
  }
}

function nameOf(host: string): string {
  return host.toLowerCase().replace(/:\d+$/, '');
}
