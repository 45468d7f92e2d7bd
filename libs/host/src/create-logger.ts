import { Writable } from 'node:stream';
import { isatty } from 'node:tty';
import { isSpanContextValid, trace } from '@opentelemetry/api';
import type { Settings } from '@flotilla/contracts/settings';
import { pino, type DestinationStream, type Logger as PinoLogger } from 'pino';
import pretty from 'pino-pretty';
import { currentLogFields } from './log-context.ts';
import type { Redact } from './redact-secrets.ts';

/** One event a line: `event` is a stable snake case name; fields are run_id, step_id, message_id and the like. */
export type Logger = PinoLogger;

export interface LoggerOptions {
  readonly instance: string;
  readonly settings: Pick<Settings, 'logLevel' | 'logFormat'>;
  readonly redact: Redact;
  /** Default: standard output. */
  readonly output?: NodeJS.WritableStream & { readonly fd?: number };
}

/**
 * Every line carries the instance, what `withLogFields` adds and the trace it belongs to, and holds no known secret. Who logs is a
 * child's field: a service of a process with several has a child of its own, and pino would write a field of parent and child twice.
 */
export function createLogger({ instance, settings, redact, output = process.stdout }: LoggerOptions): Logger {
  const destination: DestinationStream = { write: (line) => void output.write(redact(line)) };
  const readable =
    settings.logFormat === 'pretty' || (settings.logFormat === 'auto' && output.fd !== undefined && isatty(output.fd));
  return pino(
    {
      level: settings.logLevel,
      base: { instance },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      messageKey: 'message',
      mixin: () => ({ ...currentLogFields(), ...currentTrace() }),
    },
    readable
      ? pretty({
          destination: toWritable(destination),
          colorize: true,
          messageFormat: '{event}',
          ignore: 'pid,hostname,event,instance',
          translateTime: 'HH:MM:ss',
          singleLine: true,
          messageKey: 'message',
        })
      : destination,
  );
}

function currentTrace(): Readonly<Record<string, string>> {
  const span = trace.getActiveSpan()?.spanContext();
  return span !== undefined && isSpanContextValid(span) ? { trace_id: span.traceId, span_id: span.spanId } : {};
}

function toWritable(destination: DestinationStream): NodeJS.WritableStream {
  return new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      destination.write(chunk.toString('utf8'));
      done();
    },
  });
}
