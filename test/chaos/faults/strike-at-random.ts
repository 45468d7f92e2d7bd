import type { Random } from '../random.ts';
import type { ChaosWorld } from '../world/chaos-world.ts';
import { dockerFaults } from './docker-faults.ts';
import type { Fault } from './fault.ts';
import { hold } from './hold.ts';
import { outsideFaults } from './outside-faults.ts';
import { serverFaults } from './server-faults.ts';
import { serviceFaults } from './service-faults.ts';

export const faults: readonly Fault[] = [...serviceFaults, ...serverFaults, ...dockerFaults, ...outsideFaults];

export interface Struck {
  readonly name: string;
  /** Seconds since the campaign began. */
  readonly at: number;
}

const atOnce = 2;

/**
 * Strikes until the time is over, at most two faults at a time and never two on one thing. Which comes when follows from the
 * source of numbers, in what order; how long what is struck takes to come back does not. Resolves once everything is put right.
 */
export async function strikeAtRandom(
  world: ChaosWorld,
  options: {
    readonly random: Random;
    readonly seconds: number;
    readonly chosen: readonly [Fault, ...Fault[]];
    readonly signal: AbortSignal;
    readonly onStrike: (struck: Struck) => void;
  },
): Promise<readonly Struck[]> {
  const { random, seconds, chosen, onStrike } = options;
  const over = AbortSignal.any([options.signal, AbortSignal.timeout(seconds * 1_000)]);
  const began = performance.now();
  const struck: Struck[] = [];
  const under = new Map<string, Promise<void>>();
  const troubles: unknown[] = [];
  while (!over.aborted) {
    const fault = random.pick(chosen);
    const strength = random.fork();
    const pauseMs = random.between(500, 3_000);
    while (under.size >= atOnce || under.has(fault.target)) await Promise.race(under.values());
    if (over.aborted) break;
    const strike = { name: fault.name, at: Math.round((performance.now() - began) / 100) / 10 };
    struck.push(strike);
    onStrike(strike);
    const done = fault
      .strike(world, strength, over)
      .catch((error: unknown) => void troubles.push(error))
      .finally(() => under.delete(fault.target));
    under.set(fault.target, done);
    await hold(pauseMs, over);
  }
  await Promise.all(under.values());
  if (troubles.length > 0) throw new AggregateError(troubles, 'faults could not be carried out');
  return struck;
}
