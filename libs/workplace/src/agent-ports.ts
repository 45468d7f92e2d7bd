import type { JournalPort, LivePort, SignalsPort, TracePort } from '@flotilla/agent/ports';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import type { StepContext } from '@flotilla/host/step-work';
import { trace } from '@opentelemetry/api';

/** The step's log is the agent's journal: what is appended is durable, and fenced by the step's lease. */
export function bindJournal(context: Pick<StepContext, 'journal' | 'log'>): JournalPort {
  return {
    read: () => context.journal(),
    append: (entries) => context.log(...entries),
  };
}

/** A form feed begins what a turn says, and what it says again from its beginning. */
export function bindLive(context: Pick<StepContext, 'live'>): LivePort {
  let speaking: number | undefined;
  return {
    text: (turn, delta) => {
      context.live(turn === speaking ? delta : `\f${delta}`);
      speaking = turn;
    },
    restart: () => void (speaking = undefined),
    output: () => undefined,
  };
}

export function bindTrace(context: Pick<StepContext, 'span'>): TracePort {
  return {
    span: (name, attributes, work) =>
      context.span(name, definedOnly(attributes), () =>
        work((more) => void trace.getActiveSpan()?.setAttributes(definedOnly(more))),
      ),
  };
}

type SpanValue = string | number | boolean;

function definedOnly(attributes: Readonly<Record<string, unknown>>): Record<string, SpanValue> {
  const entries = Object.entries(attributes).flatMap(([name, value]): [string, SpanValue][] => {
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return [[name, value]];
    return value === undefined || value === null ? [] : [[name, JSON.stringify(value)]];
  });
  return Object.fromEntries(entries);
}

export interface SplitSignals {
  /** Aborts where the step is no longer ours: a lost lease, the deadline, a shutdown. */
  readonly stop: AbortSignal;
  readonly port: SignalsPort;
  dispose(): void;
}

/** The step's one signal as the agent needs it: a person's cancelling apart from everything else, told by its reason at once. */
export function splitCancel(context: Pick<StepContext, 'signal' | 'cancelled'>): SplitSignals {
  const stop = new AbortController();
  const cancelled = new AbortController();
  const listener = () => {
    const { reason } = context.signal;
    const byPerson = reason instanceof FlotillaError && reason.is(errors.runCancelled);
    (byPerson ? cancelled : stop).abort(reason);
  };
  if (context.signal.aborted) listener();
  else context.signal.addEventListener('abort', listener, { once: true });
  return {
    stop: stop.signal,
    port: {
      cancelled: cancelled.signal,
      read: async () => ({ cancelled: cancelled.signal.aborted || (await context.cancelled()), steering: [] }),
    },
    dispose: () => context.signal.removeEventListener('abort', listener),
  };
}
