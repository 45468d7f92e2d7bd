import type { FastifyInstance, RouteHandlerMethod } from 'fastify';
import type { Access } from './server-types.ts';

export interface Pages {
  readonly openApi: unknown;
  /** Self-contained HTML and the policy under which a browser may show it. */
  readonly reference: { readonly html: string; readonly contentSecurityPolicy: string };
  /** Names of what the gateway needs and whether each answers. */
  readonly ready: () => Promise<Readonly<Record<string, boolean>>>;
}

/** What is not a call: health for whoever runs the gateway, and the reference for whoever writes to it. HEAD is as GET without a body. */
export function bindPages(server: FastifyInstance, { openApi, reference, ready }: Pages): void {
  const bind = (url: string, access: Access, handler: RouteHandlerMethod) =>
    server.route({ method: ['GET', 'HEAD'], url, config: { access }, handler });
  bind('/health', 'open', (_, reply) => reply.send({ status: 'ok' }));
  bind('/ready', 'open', async (_, reply) => {
    const needs = await ready();
    const isReady = Object.values(needs).every(Boolean);
    return reply.code(isReady ? 200 : 503).send({ status: isReady ? 'ready' : 'waiting', needs });
  });
  bind('/v1/openapi.json', 'page', (_, reply) => reply.send(openApi));
  bind('/reference', 'page', (_, reply) =>
    reply
      .header('content-security-policy', reference.contentSecurityPolicy)
      .type('text/html; charset=utf-8')
      .send(reference.html),
  );
}
