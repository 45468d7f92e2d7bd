import type { Random } from '../random.ts';
import type { ChaosWorld } from '../world/chaos-world.ts';

/** Something that goes wrong, and comes right again. */
export interface Fault {
  /** What it strikes; one thing is struck by one fault at a time. */
  readonly target: string;
  readonly name: string;
  /** Ends once it is over. Everything is as before then, or on its way there on its own. Cut short by the signal. */
  strike(world: ChaosWorld, random: Random, signal: AbortSignal): Promise<void>;
}
