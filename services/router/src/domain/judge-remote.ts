import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';

const schemes = ['https', 'http', 'ssh', 'file'];

/**
 * Why a remote is refused when its project is added; undefined where it may be tried. Judges the text alone, so that a
 * credential in a URL is never stored and a slip of the pen is told at once; the merger judges hosts and paths in full
 * before git sees them.
 */
export function whyRemoteRefused(remote: string): FlotillaError | undefined {
  const reason = objectionTo(remote);
  return reason === undefined ? undefined : new FlotillaError(errors.projectRemoteInvalid, { reason });
}

function objectionTo(remote: string): string | undefined {
  if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(remote) || !remote.isWellFormed()) return 'it holds control characters';
  if (remote.trim() === '') return 'it is empty';
  if (remote !== remote.trim()) return 'it begins or ends with a blank';
  if (remote.startsWith('-')) return 'it starts with a hyphen';
  if (remote.startsWith('/')) return undefined;
  if (/^[^/]*::/.test(remote) && !remote.startsWith('[')) return 'it names a transport helper';
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(remote)?.[1]?.toLowerCase();
  switch (scheme) {
    case undefined:
      return objectionToScp(remote);
    case 'https':
    case 'http':
    case 'ssh':
      return objectionToUrl(remote, scheme);
    case 'file':
      return /^file:\/\/(localhost)?\//i.test(remote) ? undefined : 'a file URL has three slashes and no host';
    default:
      return `the scheme ${scheme} is not one of ${schemes.join(', ')}`;
  }
}

function objectionToUrl(remote: string, scheme: 'https' | 'http' | 'ssh'): string | undefined {
  if (remote.includes('\\') || !URL.canParse(remote)) return 'it is not a URL';
  const { username, password, hostname } = new URL(remote);
  if (password !== '' || (username !== '' && scheme !== 'ssh'))
    return 'it carries a user name or a password, which belongs to a credential';
  if (/[?#]/.test(remote)) return 'it holds ? or #';
  if (hostname === '' || /\s/.test(hostname)) return 'it names no host';
  if (scheme === 'http' && !isLoopback(hostname)) return 'plain http is for the loopback address only';
  // The URL parser resolves `..`, which is refused, so the path is taken from the text.
  return objectionToPath(/^[^/]*\/\/[^/]*(.*)$/.exec(remote)?.[1] ?? '');
}

function objectionToScp(remote: string): string | undefined {
  const [, host, path] = /^(?:[^/@:\s]+@)?(\[[^\]/\s]*\]|[^/@:[\]\s]{2,}):(.+)$/.exec(remote) ?? [];
  if (host === undefined || path === undefined) return 'it is neither a URL, nor user@host:path, nor an absolute path';
  if (schemes.includes(host.toLowerCase())) return 'the two slashes after its scheme are missing';
  return objectionToPath(path);
}

function objectionToPath(text: string): string | undefined {
  const path = decode(text);
  if (path === undefined) return 'it has a broken percent escape';
  const parts = path.split('/').filter((part) => part !== '');
  if (parts.length === 0 || parts.every((part) => /^\.git$/i.test(part))) return 'it names no repository';
  if (/\p{Cc}/u.test(path)) return 'its path holds control characters';
  if (parts.some((part) => part === '..' || part === '.')) return 'its path holds . or ..';
  if (parts.some((part) => part.startsWith('-'))) return 'a part of its path starts with a hyphen';
  return undefined;
}

function isLoopback(hostname: string): boolean {
  return /^(127(\.\d+){3}|\[::1\]|(.+\.)?localhost)$/.test(hostname);
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
