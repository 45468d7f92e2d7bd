import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { DirectoryHandle, errorCode } from './directory-handle.ts';
import { removeTree } from './remove-tree.ts';

/** Where the slots of an installation live: `slots/<slot>/{slot.json,workspace,door}`, and `owners/<owner>` as heartbeats. */
export interface SlotsDirectory {
  slotDirectory(slot: string): string;
  /** What a slot's container sees as its workspace. Absolute, as the Docker engine is told it. */
  workspaceDirectory(slot: string): string;
  /** Names of the slots that have a directory. */
  listSlots(): Promise<readonly string[]>;
  /** Removes one slot's directory, links unfollowed. Safe to repeat. */
  removeSlot(slot: string): Promise<void>;
  /** Shows that an owner is alive. */
  beat(owner: string): Promise<void>;
  /** How long an owner has been silent, by the file system's clock; undefined when it never beat. */
  silenceMs(owner: string): Promise<number | undefined>;
  /** How long ago a slot's directory was made or last filed under; undefined when there is none. */
  slotAgeMs(slot: string): Promise<number | undefined>;
}

const markerName = '.flotilla-slots';
const slotPattern = /^slot-[A-Za-z0-9_-]{1,80}$/;

/**
 * Opens or makes the directory. Throws SLOT_DIRECTORY_FOREIGN for one that holds other things or belongs to another
 * installation: whatever is below it may be deleted.
 */
export async function openSlotsDirectory(given: string, installation: string): Promise<SlotsDirectory> {
  const directory = path.resolve(given);
  await claimDirectory(directory, installation);
  const slots = path.join(directory, 'slots');
  const owners = path.join(directory, 'owners');
  await mkdir(slots, { recursive: true, mode: 0o711 });
  await mkdir(owners, { recursive: true });

  return {
    slotDirectory,
    workspaceDirectory: (slot) => path.join(slotDirectory(slot), 'workspace'),
    listSlots: async () => (await readdir(slots)).filter(isSlotName),
    async removeSlot(slot) {
      using parent = DirectoryHandle.openTrusted(slots);
      await removeTree(parent, checkedSlot(slot));
    },
    async beat(owner) {
      await writeFile(path.join(owners, owner), '');
    },
    silenceMs: (owner) => ageMs(path.join(owners, owner)),
    slotAgeMs: (slot) => ageMs(path.join(slots, checkedSlot(slot))),
  };

  function slotDirectory(slot: string): string {
    return path.join(slots, checkedSlot(slot));
  }

  /** Both times come from one clock, the file system's, so that a process with another idea of the time does no harm. */
  async function ageMs(file: string): Promise<number | undefined> {
    const clock = path.join(directory, '.clock');
    try {
      const { mtimeMs } = await stat(file);
      await writeFile(clock, '');
      return Math.max(0, (await stat(clock)).mtimeMs - mtimeMs);
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return undefined;
      throw error;
    }
  }
}

async function claimDirectory(directory: string, installation: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o711 });
  const marker = path.join(directory, markerName);
  const found = await readOptional(marker);
  if (found === installation) return;
  if (found !== undefined) throw foreign(directory, `it belongs to the installation ${found}`);
  const members = (await readdir(directory)).filter((name) => name !== markerName);
  if (members.length > 0) throw foreign(directory, 'it holds other files');
  await writeFile(marker, installation);
}

async function readOptional(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

export function isSlotName(name: string): boolean {
  return slotPattern.test(name);
}

function checkedSlot(slot: string): string {
  if (!isSlotName(slot)) throw new TypeError(`${JSON.stringify(slot)} is not the id of a slot`);
  return slot;
}

function foreign(directory: string, reason: string): FlotillaError {
  return new FlotillaError(errors.slotDirectoryForeign, { directory, reason });
}
