import type { FastifyInstance } from 'fastify';
import type {} from './server-types.ts';

export interface Pages {
  readonly openApi: unknown;
  /** Self-contained HTML and the policy under which a browser may show it. */
  readonly reference: { readonly html: string; readonly contentSecurityPolicy: string };
  /** Names of what the gateway needs and whether each answers. */
  readonly ready: () => Promise<Readonly<Record<string, boolean>>>;
}

/** What is not a call: health for whoever runs the gateway, and the reference for whoever writes to it. */
export function bindPages(server: FastifyInstance, { openApi, reference, ready }: Pages): void {
  server.get('/health', { config: { access: 'open' } }, (_, reply) => reply.send({ status: 'ok' }));
  server.get('/ready', { config: { access: 'open' } }, async (_, reply) => {
    const needs = await ready();
    const isReady = Object.values(needs).every(Boolean);
    return reply.code(isReady ? 200 : 503).send({ status: isReady ? 'ready' : 'waiting', needs });
  });
  server.get('/v1/openapi.json', { config: { access: 'page' } }, (_, reply) => reply.send(openApi));
  server.get('/reference', { config: { access: 'page' } }, (_, reply) =>
    reply
      .header('content-security-policy', reference.contentSecurityPolicy)
      .type('text/html; charset=utf-8')
      .send(reference.html),
  );
}
