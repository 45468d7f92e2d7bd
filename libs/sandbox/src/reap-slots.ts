import { workspacePath } from './container-options.ts';
import { clearUp } from './clear-up.ts';
import { decideReap, isDead } from './decide-reap.ts';
import type { ContainerFacts, DockerEngine } from './docker-engine.ts';
import type { SlotClaim } from './slot-labels.ts';
import { installationLabel, ownerLabel, slotLabel } from './slot-labels.ts';
import { ownerHasEnded } from './slot-owner.ts';
import { readSlotRecord } from './slot-record.ts';
import type { SlotsDirectory } from './slots-directory.ts';
import { isSlotName, openSlotsDirectory } from './slots-directory.ts';

export interface ReapOptions {
  readonly engine: DockerEngine;
  readonly directory: string;
  readonly installation: string;
  /** Whether an attempt may still be working, such as whether its lease is current. */
  readonly isAlive: (attempt: SlotClaim) => boolean | Promise<boolean>;
  /** Hears why a slot could not be removed; the others are removed all the same. */
  readonly onFault: (error: unknown) => void;
}

/**
 * Removes the containers and directories that nobody will come back for: all of pools whose process has ended, those of dead
 * attempts, and the ready ones of pools that stopped beating. A label alone proves nothing, since two installations may carry one name: a container is ours when its
 * workspace lies in our directory, and no other is touched. Answers with the slots that were removed. Safe to repeat, and
 * beside pools that work.
 */
export async function reapSlots(options: ReapOptions): Promise<readonly string[]> {
  const removed = await removeWhere(options, async (facts) => decideReap(facts) === 'reap');
  await forgetOwners(options);
  return removed;
}

const forgottenAfterMs = 24 * 3_600_000;

/**
 * Removes the heartbeats of pools that nothing is left of, once their process has ended. One that only stands still goes on with its
 * heartbeat when it wakes; where a process cannot be seen, a day tells.
 */
async function forgetOwners({ engine, directory, installation }: ReapOptions): Promise<void> {
  const slots = await openSlotsDirectory(directory, installation);
  const containers = await listOurs(engine, slots, `${installationLabel}=${installation}`);
  const named = new Set(containers.map(({ labels }) => labels[ownerLabel]));
  for (const slot of await slots.listSlots()) named.add((await readSlotRecord(slots.slotDirectory(slot)))?.owner);
  for (const owner of await slots.listOwners()) {
    if (named.has(owner)) continue;
    const silentForLong = ((await slots.silenceMs(owner)) ?? 0) > forgottenAfterMs;
    if (silentForLong || (await ownerHasEnded(owner))) await slots.removeOwner(owner);
  }
}

async function mayLive(slots: SlotsDirectory, owner: string): Promise<boolean> {
  return !isDead(await slots.silenceMs(owner)) && !(await ownerHasEnded(owner));
}

/**
 * Removes the slots of a step's earlier attempts, wherever on this host they were started: a step that is resumed does this
 * first, so that two attempts never work at once. Throws when one could not be removed.
 */
export async function removeEarlierAttempts(
  options: Omit<ReapOptions, 'isAlive' | 'onFault'>,
  { run, step, attempt }: SlotClaim,
): Promise<readonly string[]> {
  const faults: unknown[] = [];
  const every = { ...options, isAlive: () => true, onFault: (error: unknown) => faults.push(error) };
  const removed = await removeWhere(every, async ({ claim }) => {
    return claim !== undefined && claim.run === run && claim.step === step && claim.attempt < attempt;
  });
  if (faults.length > 0) throw faults[0];
  return removed;
}

/** How long an engine may take to let go of what it was told to remove. */
const lastLookMs = 30_000;

/**
 * As reapSlots where no attempt is known to be dead, again and again for up to half a minute until nothing is found: the last look of
 * whoever stops a fleet, after its services have ended. What another installation uses stays, and what services of this one use that
 * still run or that cannot be seen from here. Tells which slots were removed, and of how many the engine does not let go; throws
 * what is in the way at last.
 */
export async function reapEnded(
  options: Omit<ReapOptions, 'isAlive' | 'onFault'>,
): Promise<{ readonly removed: ReadonlySet<string>; readonly held: number }> {
  const removed = new Set<string>();
  const sweep = async () => {
    const faults: unknown[] = [];
    const found = await reapSlots({ ...options, isAlive: () => true, onFault: (error) => faults.push(error) });
    for (const slot of found) removed.add(slot);
    if (faults.length > 0) throw faults[0];
    return found.length;
  };
  const held = await clearUp(sweep, { patienceMs: lastLookMs, onFault: () => undefined });
  return { removed, held };
}

async function removeWhere(
  { engine, directory, installation, isAlive, onFault }: ReapOptions,
  isDoomed: (facts: Parameters<typeof decideReap>[0]) => Promise<boolean>,
): Promise<readonly string[]> {
  const slots = await openSlotsDirectory(directory, installation);
  const ours = await listOurs(engine, slots, `${installationLabel}=${installation}`);
  const bySlot = new Map(ours.map((container) => [container.labels[slotLabel] ?? '', container]));
  const names = new Set([...bySlot.keys(), ...(await slots.listSlots())]);
  const removed: string[] = [];
  for (const slot of names) {
    const container = bySlot.get(slot);
    try {
      const facts = await gatherFacts(slots, slot, container, isAlive);
      if (!(await isDoomed(facts))) continue;
      if (container) await engine.removeContainer(container.id);
      await slots.removeSlot(slot);
      removed.push(slot);
    } catch (error) {
      onFault(error);
    }
  }
  return removed;
}

/** The containers with a label whose slots lie in this directory. */
export async function listOurs(
  engine: DockerEngine,
  slots: SlotsDirectory,
  label: string,
): Promise<readonly ContainerFacts[]> {
  const labelled = await engine.listContainers(label);
  return labelled.filter((container) => isOurs(container, slots));
}

/** A container whose workspace is the one that its label names in our directory, and no neighbour's. */
function isOurs({ labels, binds }: ContainerFacts, slots: SlotsDirectory): boolean {
  const slot = labels[slotLabel] ?? '';
  if (!isSlotName(slot)) return false;
  const workspace = slots.workspaceDirectory(slot);
  return binds.some(({ source, target }) => target === workspacePath && source === workspace);
}

async function gatherFacts(
  slots: SlotsDirectory,
  slot: string,
  container: ContainerFacts | undefined,
  isAlive: ReapOptions['isAlive'],
) {
  const record = await readSlotRecord(slots.slotDirectory(slot));
  const owner = record?.owner ?? container?.labels[ownerLabel];
  const claim = record?.claim;
  const ownerEnded = owner !== undefined && (await ownerHasEnded(owner));
  return {
    container: container !== undefined,
    claim,
    attemptAlive: claim !== undefined && !ownerEnded && (await isAlive(claim)),
    ownerEnded,
    ownerSilenceMs: owner === undefined ? undefined : await slots.silenceMs(owner),
    ageMs: await slots.slotAgeMs(slot),
    somePoolLives: owner === undefined && (await somePoolLives(slots)),
  };
}

/** Asked once a slot was seen: its pool has beaten before it made it. */
async function somePoolLives(slots: SlotsDirectory): Promise<boolean> {
  for (const owner of await slots.listOwners()) if (await mayLive(slots, owner)) return true;
  return false;
}
