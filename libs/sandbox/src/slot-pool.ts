import { setTimeout as delay } from 'node:timers/promises';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import type { DockerEngine } from './docker-engine.ts';
import type { Door, DoorGrant } from './door.ts';
import { openDoor } from './door.ts';
import { doorEnvironment, waitForForwarder } from './door-forwarder.ts';
import { killTree } from './kill-tree.ts';
import { createLauncher, type Launcher } from './launcher.ts';
import { watchMemory } from './memory-watch.ts';
import type { SandboxUser } from './sandbox-user.ts';
import type { Slot } from './slot.ts';
import { createSlot } from './create-slot.ts';
import type { SlotClaim } from './slot-labels.ts';
import { containerName } from './slot-labels.ts';
import type { SlotLimits } from './slot-limits.ts';
import { defaultSlotLimits } from './slot-limits.ts';
import { writeSlotRecord } from './slot-record.ts';
import { nameOwner } from './slot-owner.ts';
import { keepOwnSlots } from './own-slots.ts';
import { openSlotsDirectory } from './slots-directory.ts';
import type { StartedContainer } from './start-container.ts';
import { createGate } from './take-turns.ts';

export interface SlotPoolOptions {
  readonly engine: DockerEngine;
  /** Belongs to this installation alone; the same path for this process and for the Docker engine. */
  readonly directory: string;
  readonly installation: string;
  readonly image: string;
  /** Slots in use at once. */
  readonly limit: number;
  /** Containers kept started and unused. Default: 1. */
  readonly ready?: number;
  readonly limits?: Partial<SlotLimits>;
  /** See sandboxUserFor. */
  readonly user: SandboxUser;
  /** Letters, digits, `-` and `_`; never the same twice. */
  readonly newId: () => string;
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
  /** Hears of containers that could not be made ready or removed; the pool tries again by itself. */
  readonly onFault?: (error: unknown) => void;
  /** How often the pool looks for containers of its own that it does not use. Default: 15 s. */
  readonly sweepEveryMs?: number;
}

export interface ClaimRequest extends SlotClaim {
  readonly signal?: AbortSignal;
  /** Gives the slot a way out; its container is started for it. */
  readonly door?: DoorGrant;
  /** Another image than the pool's; its container is started for it. */
  readonly image?: string;
}

/** Slots for one service. Each is used by one attempt, then destroyed. */
export interface SlotPool {
  /** Identifies this pool's containers and its heartbeat. */
  readonly owner: string;
  /** Throws SLOTS_EXHAUSTED and DOCKER_UNAVAILABLE (remedy wait), SANDBOX_IMAGE_MISSING. */
  claim(request: ClaimRequest): Promise<Slot>;
  /** Slots that a claim would get now: a consumer pulls as many messages, and none ahead. */
  available(): number;
  /** Started containers that wait for a claim, with what starts their first command. */
  readyCount(): number;
  /**
   * Removes everything of this pool but the slots in use, which stay their claimants'. Tries again for some seconds; what is left
   * then, since the engine does not answer, is the reaper's.
   */
  close(): Promise<void>;
}

/** A container and what starts its first command. */
interface Launchable extends StartedContainer {
  readonly launcher: Launcher;
}

const startsAtOnce = 2;
const heartbeatMs = 5000;
const firstRetryMs = 1000;
const longestRetryMs = 30_000;

export async function createSlotPool(options: SlotPoolOptions): Promise<SlotPool> {
  const { engine, now, limit, newId } = options;
  const owner = await nameOwner(newId, process.pid);
  const limits = { ...defaultSlotLimits, ...options.limits };
  const slots = await openSlotsDirectory(options.directory, options.installation);
  const onFault = options.onFault ?? (() => undefined);
  const own = keepOwnSlots({ ...options, owner, slots, limits, onFault, onGone: replaceReady });
  const closing = new AbortController();
  const throughStartGate = createGate(startsAtOnce);
  const memory = watchMemory(engine, options.installation, now, closing.signal);
  const ready: Launchable[] = [];
  const refills = new Set<Promise<void>>();
  let inUse = 0;

  await slots.beat(owner);
  const heartbeat = startHeartbeat();
  refill();

  return { owner, claim, available: () => Math.max(0, limit - inUse), readyCount: () => ready.length, close };

  async function claim(request: ClaimRequest): Promise<Slot> {
    request.signal?.throwIfAborted();
    if (closing.signal.aborted || inUse >= limit) throw new FlotillaError(errors.slotsExhausted, { limit });
    inUse += 1;
    try {
      return await claimContainer(request);
    } catch (error) {
      inUse -= 1;
      throw error;
    }
  }

  async function claimContainer(request: ClaimRequest): Promise<Slot> {
    const started = now();
    const claimed = { run: request.run, step: request.step, attempt: request.attempt };
    const wantsOwn = request.door !== undefined || (request.image ?? options.image) !== options.image;
    const taken = wantsOwn ? undefined : await takeReady(claimed);
    const container = taken ?? (await startOwn(request, claimed));
    const cleanUp: (() => Promise<void>)[] = [() => remove(container)];
    try {
      const door = await openGrantedDoor(container, request.door);
      if (door) cleanUp.unshift(() => door.close());
      request.signal?.throwIfAborted();
      return toSlot(container, claimed, { door, warm: taken !== undefined, claimMs: now() - started, cleanUp });
    } catch (error) {
      await carryOutAll(cleanUp).catch(onFault);
      throw error;
    }
  }

  /** After the pool was closed nobody else sweeps. */
  async function remove({ slot, container }: StartedContainer): Promise<void> {
    if (!closing.signal.aborted) return own.remove(slot, container);
    await own.discard(slot, container);
    await own.clear();
  }

  /** A container may have gone since it was started: with the engine, or by another hand. */
  async function takeReady(claimed: SlotClaim): Promise<Launchable | undefined> {
    for (let container = ready.shift(); container !== undefined; container = ready.shift()) {
      refill();
      try {
        await writeSlotRecord(container.slotDirectory, { owner, claim: claimed });
        await engine.renameContainer(container.container, containerName(container.slot, claimed));
        if (await engine.isRunning(container.container)) return container;
      } catch (error) {
        if (!(error instanceof FlotillaError && error.is(errors.slotLost))) {
          await own.discard(container.slot, container.container);
          throw error;
        }
      }
      await own.discard(container.slot, container.container);
    }
    return undefined;
  }

  function startOwn(request: ClaimRequest, claimed: SlotClaim): Promise<Launchable> {
    const wanted = { claim: claimed, door: request.door !== undefined, ...(request.image && { image: request.image }) };
    return throughStartGate(async () => {
      request.signal?.throwIfAborted();
      return toLaunchable(await own.start(wanted));
    });
  }

  async function openGrantedDoor(container: StartedContainer, grant: DoorGrant | undefined): Promise<Door | undefined> {
    if (grant === undefined || container.doorDirectory === undefined) return undefined;
    const door = await openDoor(grant, container.doorDirectory, { now });
    try {
      await waitForForwarder(engine, container.container, options.user);
      return door;
    } catch (error) {
      await door.close();
      throw error;
    }
  }

  function toSlot(
    { slot, container, image, slotDirectory, workspaceDirectory, launcher }: Launchable,
    claimed: SlotClaim,
    facts: {
      readonly door: Door | undefined;
      readonly warm: boolean;
      readonly claimMs: number;
      readonly cleanUp: readonly (() => Promise<void>)[];
    },
  ): Slot {
    const release = once(() => {
      inUse -= 1;
      endHeartbeat();
    });
    return createSlot({
      engine,
      container,
      id: slot,
      image,
      claim: claimed,
      slotDirectory,
      workspaceDirectory,
      user: options.user,
      launcher,
      limits,
      environment: facts.door ? doorEnvironment : {},
      warm: facts.warm,
      claimMs: facts.claimMs,
      now,
      ranOutOfMemory: (since, exitCode) => memory.ranOut(container, since, exitCode),
      async remove() {
        release();
        memory.forget(container);
        await carryOutAll(facts.cleanUp);
      },
    });
  }

  function toLaunchable(started: StartedContainer): Launchable {
    const { container } = started;
    const user = `${options.user.uid}:${options.user.gid}`;
    const endProcesses = async () => void (await killTree(engine, container, user));
    return { ...started, launcher: createLauncher(engine, container, user, endProcesses) };
  }

  function refill(): void {
    const wanted = (options.ready ?? 1) - ready.length - refills.size;
    for (let missing = wanted; missing > 0 && !closing.signal.aborted; missing -= 1) {
      const started = startReady().finally(() => refills.delete(started));
      refills.add(started);
    }
  }

  /** What a claim would find gone is replaced before one comes: a reaper took it while this process stood still, or its engine died. */
  function replaceReady(slot: string): void {
    const index = ready.findIndex((container) => container.slot === slot);
    if (index === -1) return;
    for (const { container } of ready.splice(index, 1)) void own.discard(slot, container);
    refill();
  }

  async function startReady(): Promise<void> {
    for (let pauseMs = firstRetryMs; !closing.signal.aborted; pauseMs = Math.min(pauseMs * 2, longestRetryMs)) {
      try {
        const container = toLaunchable(await throughStartGate(() => own.start()));
        container.launcher.prepare();
        await container.launcher.waiting();
        if (closing.signal.aborted) return await own.discard(container.slot, container.container);
        ready.push(container);
        return;
      } catch (error) {
        onFault(error);
        await delay(pauseMs, undefined, { signal: closing.signal, ref: false }).catch(() => undefined);
      }
    }
  }

  async function close(): Promise<void> {
    closing.abort();
    await Promise.all(refills);
    for (const { slot, container } of ready.splice(0)) await own.discard(slot, container);
    await own.clear().catch(onFault);
    endHeartbeat();
  }

  /** Beats one after the other, since a slot ends when the heartbeat does. */
  function startHeartbeat(): NodeJS.Timeout {
    let beating: Promise<void> | undefined;
    const beat = () => {
      beating ??= slots
        .beat(owner)
        .catch(onFault)
        .finally(() => (beating = undefined));
    };
    return setInterval(beat, heartbeatMs).unref();
  }

  /** Not before the last slot is given back. */
  function endHeartbeat(): void {
    if (!closing.signal.aborted || inUse > 0) return;
    clearInterval(heartbeat);
    own.stop();
  }
}

/** Throws the first of the errors, after the last step. */
async function carryOutAll(steps: readonly (() => Promise<void>)[]): Promise<void> {
  const faults: unknown[] = [];
  for (const step of steps) await step().catch((error: unknown) => faults.push(error));
  if (faults.length > 0) throw faults[0];
}

function once(action: () => void): () => void {
  let done = false;
  return () => {
    if (!done) action();
    done = true;
  };
}
