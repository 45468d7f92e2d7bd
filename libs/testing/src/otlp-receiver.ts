import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';

export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for a root. */
  readonly parentSpanId: string;
  readonly name: string;
  readonly service: string;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** One series of numbers, as an export told of it. */
export interface ReceivedMetric {
  readonly name: string;
  readonly unit: string;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** A real OTLP/HTTP receiver on loopback: what telemetry says, kept for a test to read. */
export interface OtlpReceiver {
  readonly url: string;
  readonly spans: readonly ReceivedSpan[];
  /** The series of each export, newest last. */
  readonly metrics: readonly ReceivedMetric[];
  /** Everything that was received, as text. */
  readonly bodies: readonly string[];
  close(): Promise<void>;
}

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const metrics: ReceivedMetric[] = [];
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    void readBody(request).then((body) => {
      bodies.push(body);
      const message = JSON.parse(body) as OtlpMessage;
      spans.push(...spansOf(message));
      metrics.push(...metricsOf(message));
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    metrics,
    bodies,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface Attribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}
interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly attributes?: readonly Attribute[];
}
interface OtlpPoints {
  readonly dataPoints: readonly { readonly attributes?: readonly Attribute[] }[];
}
interface OtlpMetric {
  readonly name: string;
  readonly unit?: string;
  readonly sum?: OtlpPoints;
  readonly gauge?: OtlpPoints;
  readonly histogram?: OtlpPoints;
}
interface OtlpMessage {
  readonly resourceSpans?: readonly {
    readonly resource: { readonly attributes?: readonly Attribute[] };
    readonly scopeSpans: readonly { readonly scope?: { readonly name: string }; readonly spans: readonly OtlpSpan[] }[];
  }[];
  readonly resourceMetrics?: readonly {
    readonly scopeMetrics: readonly { readonly metrics: readonly OtlpMetric[] }[];
  }[];
}

function spansOf(message: OtlpMessage): readonly ReceivedSpan[] {
  return (message.resourceSpans ?? []).flatMap(({ resource, scopeSpans }) => {
    const service = String(valuesOf(resource.attributes)['service.name'] ?? '');
    return scopeSpans.flatMap(({ scope, spans }) =>
      spans.map(({ traceId, spanId, parentSpanId = '', name, attributes }) => ({
        traceId,
        spanId,
        parentSpanId,
        name,
        // All services of one process share its resource; the tracer is named for the service.
        service: scope?.name ?? service,
        attributes: valuesOf(attributes),
      })),
    );
  });
}

function metricsOf(message: OtlpMessage): readonly ReceivedMetric[] {
  return (message.resourceMetrics ?? []).flatMap(({ scopeMetrics }) =>
    scopeMetrics.flatMap(({ metrics }) =>
      metrics.flatMap(
        ({ name, unit = '', sum, gauge, histogram }) =>
          (sum ?? gauge ?? histogram)?.dataPoints.map(({ attributes }) => ({
            name,
            unit,
            attributes: valuesOf(attributes),
          })) ?? [],
      ),
    ),
  );
}

function valuesOf(attributes: readonly Attribute[] = []): Readonly<Record<string, unknown>> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  return (request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body).toString('utf8');
}
