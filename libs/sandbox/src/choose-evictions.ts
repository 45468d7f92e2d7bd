/** A setup that is kept, and when it was last used, in milliseconds. */
export interface StoredSetup {
  readonly key: string;
  readonly bytes: number;
  readonly usedAt: number;
}

export interface EvictionLimits {
  /** What was not used for longer goes. */
  readonly keptMs: number;
  /** What all may take together; beyond it the ones not used for longest go. */
  readonly limitBytes: number;
}

/** Whoever was just told that a setup is there lays it within this time, however little room there is. */
const SPARED_MS = 24 * 3600 * 1000;

/** The setups that may go, the one that was not used for longest first. */
export function chooseEvictions(
  setups: readonly StoredSetup[],
  now: number,
  { keptMs, limitBytes }: EvictionLimits,
): readonly StoredSetup[] {
  let total = setups.reduce((sum, { bytes }) => sum + bytes, 0);
  const chosen: StoredSetup[] = [];
  for (const setup of setups.toSorted((one, other) => one.usedAt - other.usedAt)) {
    const unusedMs = now - setup.usedAt;
    if (unusedMs <= SPARED_MS || (unusedMs <= keptMs && total <= limitBytes)) continue;
    chosen.push(setup);
    total -= setup.bytes;
  }
  return chosen;
}
