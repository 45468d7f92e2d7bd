import { context, metrics, propagation, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { measureModelCalls } from './model-metrics.ts';

export interface TelemetryOptions {
  /** `service.name` of the process; a process with several services names itself. */
  readonly serviceName: string;
  readonly instance: string;
  readonly installation: string;
  /** Base URL of an OTLP/HTTP receiver; absent: spans are made, so that logs carry trace ids, and sent nowhere. */
  readonly endpoint: string | undefined;
}

export interface Telemetry {
  /** Sends what waits, and stops. */
  shutdown(): Promise<void>;
}

const metricIntervalMs = 10_000;
const batchDelayMs = 1_000;

/** Installs the process's one tracer and meter provider. Call it once, before the first span. */
export function startTelemetry({ serviceName, instance, installation, endpoint }: TelemetryOptions): Telemetry {
  const resource = resourceFromAttributes({
    'service.name': serviceName,
    'service.namespace': installation,
    'service.instance.id': instance,
  });
  const base = endpoint?.replace(/\/$/, '');
  const meters = new MeterProvider({
    resource,
    readers:
      base === undefined
        ? []
        : [
            new PeriodicExportingMetricReader({
              exporter: new OTLPMetricExporter({ url: `${base}/v1/metrics` }),
              exportIntervalMillis: metricIntervalMs,
            }),
          ],
  });
  const tracers = new TracerProvider({
    resource,
    spanProcessors:
      base === undefined
        ? []
        : [
            new BatchSpanProcessor({
              exporter: new OTLPTraceExporter({ url: `${base}/v1/traces` }),
              scheduledDelayMillis: batchDelayMs,
            }),
            measureModelCalls(meters.getMeter('model')),
          ],
  });
  // The first one of a process is the process's; another one, as in a test, leaves it in place.
  const installed = trace.setGlobalTracerProvider(tracers);
  if (installed) {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    propagation.setGlobalPropagator(new W3CTraceContextPropagator());
    metrics.setGlobalMeterProvider(meters);
  }
  return {
    shutdown: async () => {
      await Promise.allSettled([tracers.shutdown(), meters.shutdown()]);
      if (!installed) return;
      trace.disable();
      metrics.disable();
      context.disable();
      propagation.disable();
    },
  };
}
