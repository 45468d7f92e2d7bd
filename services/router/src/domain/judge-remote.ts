import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';

const schemes = ['https', 'http', 'ssh', 'file'];

/**
 * Why a remote is refused when its project is added; undefined where it may be tried. A first look, so that a credential in a
 * URL is never stored and a slip of the pen is told at once; the merger judges it in full before git sees it.
 */
export function whyRemoteRefused(remote: string): FlotillaError | undefined {
  const refuse = (reason: string) => new FlotillaError(errors.projectRemoteInvalid, { reason });
  if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(remote) || !remote.isWellFormed()) return refuse('it holds control characters');
  if (remote.startsWith('-')) return refuse('it starts with a hyphen');
  if (remote.startsWith('/')) return undefined;
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(remote)?.[1]?.toLowerCase();
  if (scheme === undefined) {
    if (/^[^/]*::/.test(remote)) return refuse('it names a transport helper');
    return /^([^/@:\s]+@)?[^/@:\s]{2,}:[^\s-]/.test(remote)
      ? undefined
      : refuse('it is neither a URL, nor user@host:path, nor an absolute path');
  }
  if (!schemes.includes(scheme)) return refuse(`the scheme ${scheme} is not one of ${schemes.join(', ')}`);
  if (!URL.canParse(remote)) return refuse('it is not a URL');
  const { username, password } = new URL(remote);
  if (password !== '' || (username !== '' && scheme !== 'ssh'))
    return refuse('it carries a user name or a password, which belongs to a credential');
  return undefined;
}
