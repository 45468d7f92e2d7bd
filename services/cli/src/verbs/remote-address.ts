import { isAbsolute, resolve } from 'node:path';

export interface RemoteAddress {
  /** As the fleet takes it: an absolute path or a URL. */
  readonly remote: string;
  /** Host a secret goes to; undefined for a path. */
  readonly host?: string;
  readonly kind: 'path' | 'http' | 'ssh' | 'other';
}

/** What a person writes for a remote: a path from here, a URL, or `user@host:path`, which is ssh. */
export function readRemoteAddress(text: string, workingDirectory: string): RemoteAddress {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return readUrl(text);
  const [, user, host, path] = /^(?:([\w.-]+)@)?([\w.-]+):(?!\/\/)(.+)$/.exec(text) ?? [];
  // Slashes forgotten after a scheme name no host: the fleet refuses it with that reason.
  if (host !== undefined && /^(https?|ssh|file|git)$/i.test(host)) return { remote: text, kind: 'other' };
  if (host !== undefined && path !== undefined && !isAbsolute(text)) {
    const login = user === undefined ? '' : `${user}@`;
    return { remote: `ssh://${login}${host}/${path.replace(/^\/+/, '')}`, host, kind: 'ssh' };
  }
  return { remote: resolve(workingDirectory, text), kind: 'path' };
}

function readUrl(text: string): RemoteAddress {
  if (!URL.canParse(text)) return { remote: text, kind: 'other' };
  const { protocol, hostname } = new URL(text);
  const host = hostname === '' ? {} : { host: hostname };
  if (protocol === 'http:' || protocol === 'https:') return { remote: text, ...host, kind: 'http' };
  if (protocol === 'ssh:' || protocol === 'git+ssh:') return { remote: text, ...host, kind: 'ssh' };
  return { remote: text, ...host, kind: 'other' };
}
