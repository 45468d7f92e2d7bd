import { readFile } from 'node:fs/promises';
import { callCatalogue } from '@flotilla/contracts/call-catalogue';
import { describeOpenApi } from '@flotilla/contracts/calls/describe-open-api';
import { headers } from '@flotilla/contracts/headers';
import { errors } from '@flotilla/errors/catalogue';
import { requireSetting } from '@flotilla/host/read-settings';
import type { Resources, ServiceDefinition } from '@flotilla/host/service-definition';
import { currentTraceContext } from '@flotilla/host/trace-context';
import { request } from '@flotilla/stream/calls';
import { subscribeEvents, subscribeLive } from '@flotilla/stream/live';
import type { DynamicModule } from '@nestjs/common';
import { createAnswers } from './answers/create-answers.ts';
import { chooseHosts } from './domain/choose-hosts.ts';
import { createAuthenticator } from './http/authenticate.ts';
import { buildServer } from './http/build-server.ts';
import { HttpServer } from './http/http-server.ts';
import { readTokens } from './http/read-tokens.ts';
import { renderReference } from './pages/render-reference.ts';
import { createPublishedViews } from './views/published-views.ts';
import { RunTails } from './watch/run-tails.ts';

class GatewayModule {}

async function createGatewayModule(resources: Resources): Promise<DynamicModule> {
  const { settings, logger } = resources;
  const { httpHost: host, httpPort: port, allowedHosts } = settings;
  const tokens = await readTokens(requireSetting(settings, 'tokensFile'));
  const version = await readVersion();
  return {
    module: GatewayModule,
    providers: [
      { provide: RunTails, useFactory: () => createTails(resources) },
      {
        provide: HttpServer,
        inject: [RunTails],
        useFactory: (tails: RunTails) => {
          const { server } = buildServer({
            calls: callCatalogue,
            answers: answersOf(resources, tails),
            door: { authenticate: createAuthenticator(tokens), allowedHosts: chooseHosts(host, allowedHosts) },
            pages: {
              openApi: describeOpenApi(callCatalogue, Object.values(errors), version),
              reference: renderReference(callCatalogue, version),
              ready: () => checkReady(resources),
            },
            logger,
            tracer: resources.tracer,
            shutdown: resources.signal,
          });
          return new HttpServer(server, { host, port, logger });
        },
      },
    ],
  };
}

function createTails({ store, broker }: Resources): RunTails {
  return new RunTails({
    readLog: (...query) => store.readLog(...query),
    subscribe: (runId, { onAdvanced, onLive }) => {
      const stops = [subscribeEvents(broker, runId, onAdvanced), subscribeLive(broker, runId, onLive)];
      return () => stops.forEach((stop) => stop());
    },
    every: (delayMs, tick) => {
      const timer = setInterval(tick, delayMs);
      return () => clearInterval(timer);
    },
  });
}

function answersOf({ store, broker }: Resources, tails: RunTails) {
  return createAnswers(callCatalogue, {
    views: createPublishedViews(store),
    readLog: (...query) => store.readLog(...query),
    tails,
    forward: (call, input, { principal }) => request(broker, call, input, { principal, headers: traceHeaders() }),
  });
}

function traceHeaders(): Readonly<Record<string, string>> {
  const { traceparent, tracestate } = currentTraceContext() ?? {};
  return {
    ...(traceparent === undefined ? {} : { [headers.traceparent]: traceparent }),
    ...(tracestate === undefined ? {} : { [headers.tracestate]: tracestate }),
  };
}

async function checkReady({ store, broker }: Resources): Promise<Readonly<Record<string, boolean>>> {
  const postgres = await store.query('select 1').then(
    () => true,
    () => false,
  );
  return { postgres, nats: broker.connected };
}

async function readVersion(): Promise<string> {
  const manifest: unknown = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'));
  return typeof manifest === 'object' && manifest !== null && 'version' in manifest ? String(manifest.version) : '';
}

export const gatewayService: ServiceDefinition = { name: 'gateway', stages: [], module: createGatewayModule };
