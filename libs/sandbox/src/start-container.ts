import fs from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { containerOptions } from './container-options.ts';
import type { DockerEngine } from './docker-engine.ts';
import type { SandboxUser } from './sandbox-user.ts';
import type { SlotClaim } from './slot-labels.ts';
import { containerName } from './slot-labels.ts';
import type { SlotLimits } from './slot-limits.ts';
import { requireSlotRecord, writeSlotRecord } from './slot-record.ts';
import type { SlotsDirectory } from './slots-directory.ts';

export interface StartSettings {
  readonly engine: DockerEngine;
  readonly slots: SlotsDirectory;
  readonly installation: string;
  readonly owner: string;
  readonly image: string;
  readonly user: SandboxUser;
  readonly limits: SlotLimits;
}

export interface StartedContainer {
  readonly slot: string;
  readonly container: string;
  readonly image: string;
  readonly slotDirectory: string;
  readonly workspaceDirectory: string;
  readonly doorDirectory: string | undefined;
}

/**
 * Makes a slot's directories and starts a container on them. The workspace exists before the container, because a bind
 * holds the directory and not its name. The owner has beaten before, and goes on or the container ends. What it leaves when it fails carries
 * the owner's name (own-slots.ts). Throws SLOT_LOST where somebody removed the slot while it was made.
 */
export async function startContainer(
  settings: StartSettings,
  slot: string,
  options: { readonly claim?: SlotClaim; readonly door?: boolean; readonly image?: string } = {},
): Promise<StartedContainer> {
  const { engine, slots, user, owner } = settings;
  const { claim, door = false, image = settings.image } = options;
  const slotDirectory = slots.slotDirectory(slot);
  const workspaceDirectory = slots.workspaceDirectory(slot);
  const doorDirectory = door ? path.join(slotDirectory, 'door') : undefined;
  let container: string | undefined;
  let recorded = false;
  try {
    // Nobody else on the host comes near a workspace, or the socket of a door.
    await mkdir(slotDirectory, { mode: 0o700 });
    await writeSlotRecord(slotDirectory, { owner, claim });
    recorded = true;
    await makeOwned(workspaceDirectory, user);
    if (doorDirectory !== undefined) await mkdir(doorDirectory, { mode: 0o755 });
    const heartbeatFile = slots.heartbeatFile(owner);
    const facts = { ...settings, image, slot, claim, workspaceDirectory, doorDirectory, heartbeatFile };
    container = await engine.createContainer(containerName(slot, claim), containerOptions(facts));
    await engine.startContainer(container);
    return { slot, container, image, slotDirectory, workspaceDirectory, doorDirectory };
  } catch (error) {
    const cause = recorded ? causeOf(error, slotDirectory) : error;
    await discard(settings, slot, container);
    throw cause;
  }
}

/** Whatever failed in a slot that somebody removed meanwhile failed for that. */
function causeOf(error: unknown, slotDirectory: string): unknown {
  try {
    requireSlotRecord(slotDirectory);
    return error;
  } catch (lost) {
    return lost;
  }
}

/** Removes container and directory, the container first. Safe to repeat. */
export async function removeSlot(settings: StartSettings, slot: string, container: string): Promise<void> {
  await settings.engine.removeContainer(container);
  await settings.slots.removeSlot(slot);
}

/** What cannot be removed now is found by the owner's next sweep; the error that led here is the one to hear of. */
async function discard(settings: StartSettings, slot: string, container: string | undefined): Promise<void> {
  try {
    if (container !== undefined) await settings.engine.removeContainer(container);
    await settings.slots.removeSlot(slot);
  } catch {
    return;
  }
}

async function makeOwned(directory: string, user: SandboxUser): Promise<void> {
  await mkdir(directory, { mode: 0o755 });
  fs.chownSync(directory, user.uid, user.gid);
}
