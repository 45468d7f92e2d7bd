import { realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { judgeHost } from './remote-host.ts';

/** A git remote whose address has been judged. */
export interface Remote {
  readonly kind: 'https' | 'http' | 'ssh' | 'local';
  /** What git is given: rebuilt from the judged parts; an absolute real path for a local one. */
  readonly url: string;
  /** `https://host:port` for https and http: the only place a token is sent to. */
  readonly origin: string | undefined;
  /**
   * One per repository: the same for spellings that differ in `.git`, slashes, case of the host, ssh or https, a default
   * port, or symbolic links of a local path. For example `github.com/org/x` or `file:/srv/git/x.git`.
   */
  readonly canonicalId: string;
}

export interface LocalRemotePolicy {
  /** Directories under which local repositories may lie. Default: everywhere. */
  readonly allowedUnder?: readonly string[];
  /** Directories under which they may not, such as the slots' and the mirrors' own. */
  readonly refusedUnder?: readonly string[];
}

/**
 * Judges the address of a remote: https, http to loopback, ssh in both spellings, `file://` and absolute paths.
 * Looks at the disk for local ones only. Throws remoteUrlRefused, or remoteNotFound for a local path without a repository.
 */
export function parseRemote(address: string, policy: LocalRemotePolicy = {}): Remote {
  const text = address.trim();
  if (text === '') refuse('it is empty');
  if (text.length > 2048) refuse('it has more than 2048 characters');
  if (/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(text) || !text.isWellFormed())
    refuse('it holds control characters');
  if (text.startsWith('-')) refuse('it starts with a hyphen');
  if (text.startsWith('/')) return parseLocal(text, policy);
  if (/^[^/]*::/.test(text) && !text.startsWith('[')) refuse('it names a transport helper');
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1]?.toLowerCase();
  switch (scheme) {
    case 'https':
    case 'http':
      return parseHttp(text, scheme);
    case 'ssh':
      return parseSsh(text);
    case 'file':
      return parseFile(text, policy);
    case undefined:
      return parseScpLike(text);
    default:
      return refuse(`the scheme ${scheme} is not one of https, ssh and file`);
  }
}

/** A full sentence for errors: the address without anything that could be a credential. */
export function describeRemote(remote: Remote): string {
  return remote.url;
}

function parseHttp(text: string, kind: 'https' | 'http'): Remote {
  const url = parseUrl(text);
  if (url.username !== '' || url.password !== '' || text.split('/')[2]?.includes('@')) {
    refuse('it carries a user name or a credential, which belongs to the credential of the project');
  }
  if (url.search !== '' || url.hash !== '' || /[?#]/.test(text)) refuse('it holds ? or #');
  const host = judgeHost(url.hostname, refuse);
  if (kind === 'http' && !host.loopback) refuse('plain http is for the loopback address only');
  // The URL parser resolves `..`, which is refused, so the path is taken from the text.
  const path = judgePath(/^[^/]*\/\/[^/]*(.*)$/.exec(text)?.[1] ?? '');
  return {
    kind,
    url: `${url.origin}${encodeURI(path)}`,
    origin: url.origin,
    canonicalId: canonicalId(host.name, url.port, path),
  };
}

function parseSsh(text: string): Remote {
  const match = /^ssh:\/\/(?:([^/@]*)@)?(\[[^\]/]*\]|[^/:@]*)(?::(\d{1,5}))?(\/.*)$/i.exec(text);
  if (match === null) return refuse('it is not of the form ssh://user@host/path');
  const [, user, hostText = '', port = '', pathText = ''] = match;
  if (/[?#]/.test(pathText)) refuse('it holds ? or #');
  const host = judgeHost(hostText, refuse);
  const path = judgePath(pathText);
  const shownPort = port === '' || Number(port) === 22 ? '' : String(Number(port));
  return {
    kind: 'ssh',
    url: `ssh://${judgeUser(user)}${host.name}${shownPort === '' ? '' : `:${shownPort}`}${encodeURI(path)}`,
    origin: undefined,
    canonicalId: canonicalId(host.name, shownPort, path),
  };
}

/** `user@host:path`: the path may be relative to the user's home there, so the spelling is kept for git. */
function parseScpLike(text: string): Remote {
  const match = /^(?:([^/@:]*)@)?(\[[^\]/]*\]|[^/:@[\]]{2,}):(.+)$/.exec(text);
  if (match === null) return refuse('it is neither a URL, nor user@host:path, nor an absolute path');
  const [, user, hostText = '', pathText = ''] = match;
  if (/^(https?|ssh|file|git|ftps?|ext|fd)$/i.test(hostText)) refuse('the two slashes after its scheme are missing');
  if (pathText.startsWith('-')) refuse('its path starts with a hyphen');
  const host = judgeHost(hostText, refuse);
  const path = judgePath(`/${pathText.replace(/^\/+/, '')}`);
  const kept = pathText.startsWith('/') ? path : path.slice(1);
  return {
    kind: 'ssh',
    url: `${judgeUser(user)}${host.name}:${kept}`,
    origin: undefined,
    canonicalId: canonicalId(host.name, '', path),
  };
}

function parseFile(text: string, policy: LocalRemotePolicy): Remote {
  const match = /^file:\/\/(?:localhost)?(\/.*)$/i.exec(text);
  if (match?.[1] === undefined) return refuse('a file URL has three slashes and no host');
  return parseLocal(decode(match[1]), policy);
}

function parseLocal(text: string, policy: LocalRemotePolicy): Remote {
  if (/[\u0000-\u001f\u007f]/.test(text)) refuse('it holds control characters');
  const path = findLocalRepository(text);
  if (path === undefined)
    throw new FlotillaError(errors.remoteNotFound, { remote: text, reason: 'no git repository is there' });
  const allowed = policy.allowedUnder?.map(realDirectory).some((root) => isBeneath(path, root)) ?? true;
  if (!allowed) refuse('local repositories are not allowed there');
  if (policy.refusedUnder?.map(realDirectory).some((root) => isBeneath(path, root))) {
    refuse('it lies in a directory of the fleet itself');
  }
  return { kind: 'local', url: path, origin: undefined, canonicalId: `file:${path}` };
}

/** As git looks for one: the path, the path's `.git`, the path with `.git` appended. */
function findLocalRepository(text: string): string | undefined {
  const candidates = [
    join(text, '.git'),
    text,
    `${text.replace(/\/+$/, '')}.git`,
    join(`${text.replace(/\/+$/, '')}.git`, '.git'),
  ];
  const found = candidates.find((path) => existsAt(join(path, 'HEAD')) && existsAt(join(path, 'objects')));
  if (found !== undefined) return realpathSync.native(found);
  const linked = join(text, '.git');
  return existsAt(linked) && statSync(linked).isFile() ? realpathSync.native(text) : undefined;
}

function existsAt(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

function realDirectory(path: string): string {
  return existsAt(path) ? realpathSync.native(path) : path;
}

function isBeneath(path: string, root: string): boolean {
  return path === root || path.startsWith(root.endsWith('/') ? root : `${root}/`);
}

function parseUrl(text: string): URL {
  if (text.includes('\\')) refuse('it holds a backslash');
  return URL.canParse(text) ? new URL(text) : refuse('it is not a URL');
}

function judgeUser(user: string | undefined): string {
  if (user === undefined) return '';
  if (user.includes(':')) refuse('it carries a password');
  if (!/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$/.test(user)) refuse('its user name is not letters, digits and _ . -');
  return `${user}@`;
}

/** Decoded, without empty and without trailing parts. */
function judgePath(text: string): string {
  const path = decode(text)
    .replace(/\/{2,}/g, '/')
    .replace(/\/+$/, '');
  if (/[\u0000-\u001f\u007f-\u009f]/.test(path)) refuse('its path holds control characters');
  if (path === '') refuse('it names no repository');
  if (path.split('/').some((part) => part === '..' || part === '.')) refuse('its path holds . or ..');
  if (path.split('/').some((part) => part.startsWith('-'))) refuse('a part of its path starts with a hyphen');
  return path;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return refuse('it has a broken percent escape');
  }
}

/** Their paths are the same in any case of letters. */
const hostsIgnoringCase = new Set(['github.com', 'gitlab.com', 'bitbucket.org', 'codeberg.org']);

function canonicalId(host: string, port: string, path: string): string {
  const repository = path
    .replace(/^\/+/, '')
    .replace(/\.git$/i, '')
    .replace(/\/+$/, '');
  if (repository === '') refuse('it names no repository');
  const place = port === '' ? host : `${host}:${port}`;
  return `${place}/${hostsIgnoringCase.has(host) ? repository.toLowerCase() : repository}`;
}

function refuse(reason: string): never {
  throw new FlotillaError(errors.remoteUrlRefused, { reason });
}
