import { createHash, timingSafeEqual } from 'node:crypto';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import type { Caller } from '../domain/caller.ts';

export interface TokenGrant extends Caller {
  readonly token: string;
}

/** `bearer`: every call. `page`: also HTTP Basic with the token as password, so that a browser can open a page that changes nothing. */
export type Scheme = 'bearer' | 'page';

export type Authenticate = (authorization: string | undefined, scheme: Scheme) => Caller;

/**
 * Knows these tokens. Throws TOKEN_MISSING, TOKEN_NOT_BEARER or TOKEN_REFUSED. Compares digests of one length against every token, so that
 * the time it takes tells nothing of how near a guess was.
 */
export function createAuthenticator(grants: readonly TokenGrant[]): Authenticate {
  const known = grants.map(({ token, principal, roles }) => ({
    digest: digestOf(token),
    caller: { principal, roles },
  }));
  return (authorization, scheme) => {
    const token = readToken(authorization, scheme);
    if (token === undefined)
      throw new FlotillaError(isBasic(authorization) ? errors.tokenNotBearer : errors.tokenMissing);
    const digest = digestOf(token);
    let found: Caller | undefined;
    for (const { digest: expected, caller } of known) if (timingSafeEqual(digest, expected)) found = caller;
    if (found === undefined) throw new FlotillaError(errors.tokenRefused);
    return found;
  };
}

function readToken(authorization: string | undefined, scheme: Scheme): string | undefined {
  const [, name, value] = /^(bearer|basic) +([A-Za-z0-9._~+/=-]+)$/i.exec(authorization ?? '') ?? [];
  if (name === undefined || value === undefined) return undefined;
  if (name.toLowerCase() === 'bearer') return value;
  if (scheme !== 'page') return undefined;
  return Buffer.from(value, 'base64')
    .toString('utf8')
    .replace(/^[^:]*:/, '');
}

function isBasic(authorization: string | undefined): boolean {
  return /^basic /i.test(authorization ?? '');
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
