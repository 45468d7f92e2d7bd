import type { CallContract } from '@flotilla/contracts/define-call';
import type { Span } from '@opentelemetry/api';
import type { Caller } from '../domain/caller.ts';

/** `open`: answered without a token. `page`: a token, also as the password of HTTP Basic. `call`: a bearer token with a role. */
export type Access = 'open' | 'page' | 'call';

declare module 'fastify' {
  interface FastifyContextConfig {
    readonly access?: Access;
    readonly call?: CallContract;
  }
  interface FastifyRequest {
    caller: Caller | undefined;
    span: Span | undefined;
  }
}

/** What the server writes to; pino fits. */
export interface Logger {
  info(fields: Readonly<Record<string, unknown>>): void;
  error(fields: Readonly<Record<string, unknown>>): void;
}

/** A method at a path; a part of the path that begins with a colon stands for any one. */
export interface Route {
  readonly method: string;
  readonly url: string;
}
