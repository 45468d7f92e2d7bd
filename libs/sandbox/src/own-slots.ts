import { clearUp } from './clear-up.ts';
import { listOurs } from './reap-slots.ts';
import type { SlotClaim } from './slot-labels.ts';
import { ownerLabel, slotLabel } from './slot-labels.ts';
import { readSlotRecord } from './slot-record.ts';
import type { StartedContainer, StartSettings } from './start-container.ts';
import { removeSlot, startContainer } from './start-container.ts';
import { createTurns } from './take-turns.ts';

export interface OwnSlotsOptions extends StartSettings {
  readonly newId: () => string;
  readonly onFault: (error: unknown) => void;
  /** Hears of a slot in use whose container is gone, at each sweep until it is removed. */
  readonly onGone: (slot: string) => void;
  /** Default: 15 s. */
  readonly sweepEveryMs?: number | undefined;
}

/**
 * The slots of one pool, by name: those that are used, and all others that carry the pool's name. An engine may have made a
 * container without saying so, and a removal may have failed: what is not used is removed by the sweeps.
 */
export interface OwnSlots {
  /** Starts a container on a slot of its own, which is used until it is removed. */
  start(options?: {
    readonly claim?: SlotClaim;
    readonly door?: boolean;
    readonly image?: string;
  }): Promise<StartedContainer>;
  /** Ends the use of a slot and removes it. Throws when it could not; the sweeps then do it. Safe to repeat. */
  remove(slot: string, container: string): Promise<void>;
  /** The same for whoever has another error to tell of. */
  discard(slot: string, container: string): Promise<void>;
  /** Sweeps until nothing is left that is not used. Throws what is in the way after the last of some tries. */
  clear(): Promise<void>;
  /** Ends the sweeps that happen by themselves. */
  stop(): void;
}

const defaultSweepEveryMs = 15_000;
/** A service that stops has not much longer. */
const clearingMs = 6_000;

export function keepOwnSlots(options: OwnSlotsOptions): OwnSlots {
  const { engine, slots, owner, newId, onFault, onGone } = options;
  const used = new Set<string>();
  const started = new Set<string>();
  const left = new Set<string>();
  const inTurn = createTurns();
  const timer = setInterval(
    () => void inTurn(sweep).catch(onFault),
    options.sweepEveryMs ?? defaultSweepEveryMs,
  ).unref();

  return {
    async start(request) {
      const slot = `slot-${newId()}`;
      used.add(slot);
      try {
        const container = await startContainer(options, slot, request);
        started.add(slot);
        return container;
      } catch (error) {
        leave(slot);
        throw error;
      }
    },
    remove,
    discard: (slot, container) => remove(slot, container).catch(onFault),
    clear: async () => void (await clearUp(() => inTurn(sweep), { patienceMs: clearingMs, onFault })),
    stop: () => clearInterval(timer),
  };

  async function remove(slot: string, container: string): Promise<void> {
    try {
      await removeSlot(options, slot, container);
      used.delete(slot);
      started.delete(slot);
    } catch (error) {
      leave(slot);
      throw error;
    }
  }

  function leave(slot: string): void {
    used.delete(slot);
    started.delete(slot);
    left.add(slot);
  }

  /**
   * Removes what is not used and answers how much it found: an engine may call a container removed that it still shows. Tries
   * every one, and throws the first of the errors. A name is never used twice: what is unused now stays so.
   */
  async function sweep(): Promise<number> {
    const expected = [...started];
    const labelled = await listOurs(engine, slots, `${ownerLabel}=${owner}`);
    const there = new Set(labelled.map(({ labels }) => labels[slotLabel] ?? ''));
    for (const slot of there) noteUnused(slot);
    for (const slot of expected) if (!there.has(slot) && started.has(slot)) onGone(slot);
    for (const slot of await slots.listSlots()) {
      if (!used.has(slot) && (await readSlotRecord(slots.slotDirectory(slot)))?.owner === owner) noteUnused(slot);
    }
    const found = left.size;
    const faults: unknown[] = [];
    for (const slot of [...left]) {
      try {
        const containers = labelled.filter(({ labels }) => labels[slotLabel] === slot);
        for (const { id } of containers) await engine.removeContainer(id);
        await slots.removeSlot(slot);
        left.delete(slot);
      } catch (error) {
        faults.push(error);
      }
    }
    if (faults.length > 0) throw faults[0];
    return found;
  }

  function noteUnused(slot: string): void {
    if (!used.has(slot)) left.add(slot);
  }
}
