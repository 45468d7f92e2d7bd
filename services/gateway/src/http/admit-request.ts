import type { Role } from '@flotilla/contracts/define-call';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import type { FastifyRequest } from 'fastify';
import type { Authenticate } from './authenticate.ts';
import type { Caller } from '../domain/caller.ts';
import { checkHost } from '../domain/check-host.ts';
import type {} from './server-types.ts';

export interface Doorkeeper {
  readonly authenticate: Authenticate;
  readonly allowedHosts: readonly string[] | undefined;
}

const tokenParameters: readonly string[] = [
  'token',
  'access_token',
  'api_key',
  'apikey',
  'auth',
  'authorization',
  'bearer',
];

/**
 * Lets a request in or throws why not, before anything of it is parsed. A path nobody serves is refused without a token
 * too. Undefined for what is open to all.
 */
export function admitRequest(request: FastifyRequest, { authenticate, allowedHosts }: Doorkeeper): Caller | undefined {
  const { host, origin, authorization } = request.headers;
  checkHost({ host, origin, allowedHosts });
  refuseTokenInUrl(request.url);
  const { access = 'call', call } = request.routeOptions.config;
  if (access === 'open') return undefined;
  const caller = authenticate(authorization, access === 'page' ? 'page' : 'bearer');
  if (call !== undefined) requireRole(caller, call.name, call.roles);
  return caller;
}

function refuseTokenInUrl(url: string): void {
  const query = url.split('?', 2)[1];
  if (query === undefined) return;
  for (const parameter of new URLSearchParams(query).keys()) {
    if (tokenParameters.includes(parameter.toLowerCase())) throw new FlotillaError(errors.tokenInUrl, { parameter });
  }
}

function requireRole({ principal, roles }: Caller, call: string, wanted: readonly Role[]): void {
  if (wanted.some((role) => roles.includes(role))) return;
  throw new FlotillaError(errors.roleMissing, { principal, call, roles: wanted.join(', ') });
}
