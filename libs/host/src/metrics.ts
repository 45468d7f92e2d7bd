import { type Attributes, metrics } from '@opentelemetry/api';
import type { Spent } from '@flotilla/contracts/allowance';

/** The fleet's key numbers. Instruments of a process without a meter provider do nothing. */
export interface FleetMetrics {
  delivered(fields: {
    readonly stage: string;
    readonly settlement: string;
    readonly code?: string;
    readonly durationMs: number;
  }): void;
  waited(fields: { readonly stage: string; readonly code: string }): void;
  /** A message that arrived for the first time had waited for a free slot so long. */
  taken(fields: { readonly stage: string; readonly waitedMs: number }): void;
  stepEnded(fields: {
    readonly verb: string;
    readonly outcome: string;
    readonly durationMs: number;
    readonly spent: Spent;
  }): void;
  called(fields: { readonly call: string; readonly code?: string; readonly durationMs: number }): void;
  /** Every process reads the same outbox: the fleet's number is the largest, not the sum. */
  observeOutbox(read: () => { readonly waiting: number; readonly oldestMs: number }): void;
  /** Likewise; a read that fails is left out. */
  observeGates(read: () => Promise<number>): void;
}

/** The SDK's own boundaries are made for milliseconds. */
const secondBoundaries = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1_200, 1_800, 3_600,
];

export function createMetrics(service: string): FleetMetrics {
  const meter = metrics.getMeter(service);
  const seconds = (name: string, description: string) =>
    meter.createHistogram(name, {
      unit: 's',
      description,
      advice: { explicitBucketBoundaries: secondBoundaries },
    });
  const count = (name: string, unit: string, description: string) => meter.createCounter(name, { unit, description });
  const deliveries = count('flotilla.deliveries', '{delivery}', 'Deliveries by stage and how they were settled.');
  const deliveryDuration = seconds('flotilla.delivery.duration', 'From arrival to settlement.');
  const queueWait = seconds('flotilla.queue.wait', 'From the publishing of a message to its first delivery.');
  const waits = count('flotilla.waits', '{wait}', 'Deliveries put off at no cost, by what they waited for.');
  const steps = count('flotilla.steps', '{step}', 'Steps by verb and outcome.');
  const stepDuration = seconds(
    'flotilla.step.duration',
    'From the start of the last delivery of a step to its answer.',
  );
  const tokens = count('flotilla.tokens', '{token}', 'Tokens spent by steps.');
  const cost = count('flotilla.cost', '{microdollar}', 'Money spent by steps whose model has a known price.');
  const callDuration = seconds('flotilla.call.duration', 'Calls answered, by code where they failed.');
  const outboxWaiting = meter.createObservableGauge('flotilla.outbox.waiting', {
    unit: '{message}',
    description: 'Committed messages the broker does not have.',
  });
  const outboxOldest = meter.createObservableGauge('flotilla.outbox.oldest', {
    unit: 's',
    description: 'Age of the oldest of them.',
  });
  const gatesWaiting = meter.createObservableGauge('flotilla.gates.waiting', {
    unit: '{gate}',
    description: 'Gates that wait for a person.',
  });
  return {
    delivered: ({ stage, settlement, code, durationMs }) => {
      const attributes = definedOnly({ stage, settlement, code });
      deliveries.add(1, attributes);
      deliveryDuration.record(durationMs / 1000, attributes);
    },
    taken: ({ stage, waitedMs }) => queueWait.record(waitedMs / 1000, { stage }),
    waited: ({ stage, code }) => waits.add(1, { stage, code }),
    stepEnded: ({ verb, outcome, durationMs, spent }) => {
      steps.add(1, { verb, outcome });
      stepDuration.record(durationMs / 1000, { verb, outcome });
      tokens.add(spent.tokens, { verb });
      cost.add(spent.microdollars ?? 0, { verb });
    },
    called: ({ call, code, durationMs }) => callDuration.record(durationMs / 1000, definedOnly({ call, code })),
    observeOutbox: (read) => {
      outboxWaiting.addCallback((result) => result.observe(read().waiting));
      outboxOldest.addCallback((result) => result.observe(read().oldestMs / 1000));
    },
    observeGates: (read) =>
      gatesWaiting.addCallback(async (result) => {
        const waiting = await read().catch(() => undefined);
        if (waiting !== undefined) result.observe(waiting);
      }),
  };
}

function definedOnly(attributes: Readonly<Record<string, string | undefined>>): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));
}
