import fs from 'node:fs';
import { link, mkdir, mkdtemp, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { DirectoryHandle, errorCode } from './directory-handle.ts';
import { removeTree } from './remove-tree.ts';
import { removeSlotRecord } from './slot-record.ts';

/** Where the slots of an installation live: `slots/<slot>/{slot.json,workspace,door}`, and `owners/<owner>` as heartbeats. */
export interface SlotsDirectory {
  slotDirectory(slot: string): string;
  /** What a slot's container sees as its workspace. Absolute, as the Docker engine is told it. */
  workspaceDirectory(slot: string): string;
  /** Names of the slots that have a directory. */
  listSlots(): Promise<readonly string[]>;
  /** Removes one slot's directory, its record first, links unfollowed. Safe to repeat. */
  removeSlot(slot: string): Promise<void>;
  /** Shows that an owner is alive. Each beat must follow the one before it. */
  beat(owner: string): Promise<void>;
  /** What the beats are written to: one file for as long as its owner lives, with another content after each beat. */
  heartbeatFile(owner: string): string;
  listOwners(): Promise<readonly string[]>;
  /** Removes an owner's heartbeat. Safe to repeat. */
  removeOwner(owner: string): Promise<void>;
  /** How long an owner has been silent, by the file system's clock; undefined when it never beat. */
  silenceMs(owner: string): Promise<number | undefined>;
  /** How long ago a slot's directory was made or last filed under; undefined when there is none. */
  slotAgeMs(slot: string): Promise<number | undefined>;
}

const { O_CREAT, O_RDWR } = fs.constants;
const markerName = '.flotilla-slots';
const beatDigits = 12;
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
      if (parent.stat(checkedSlot(slot))?.isDirectory()) {
        using directory = parent.openDirectory(slot);
        removeSlotRecord(directory);
      }
      await removeTree(parent, slot);
    },
    beat: (owner) => writeBeat(heartbeatFile(owner)),
    heartbeatFile,
    listOwners: () => readdir(owners),
    removeOwner: (owner) => rm(heartbeatFile(owner), { force: true }),
    silenceMs: (owner) => ageMs(heartbeatFile(owner)),
    slotAgeMs: (slot) => ageMs(path.join(slots, checkedSlot(slot))),
  };

  function slotDirectory(slot: string): string {
    return path.join(slots, checkedSlot(slot));
  }

  function heartbeatFile(owner: string): string {
    return path.join(owners, owner);
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

/** Over what stands there: that needs no room on a disk that is full, and whoever has the file open sees it. */
async function writeBeat(file: string): Promise<void> {
  const handle = await open(file, O_RDWR | O_CREAT);
  try {
    // The first process of a container reads it without the rights of root.
    await handle.chmod(0o644);
    const last = Number((await handle.read(Buffer.alloc(beatDigits), 0, beatDigits, 0)).buffer.toString('latin1'));
    const next = (Number.isSafeInteger(last) ? last + 1 : 1) % 10 ** beatDigits;
    await handle.write(String(next).padStart(beatDigits, '0'), 0, 'latin1');
  } finally {
    await handle.close();
  }
}

/** Several processes may come here first at once: the marker appears whole, and who finds the place taken looks whose it is. */
async function claimDirectory(directory: string, installation: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o711 });
  const marker = path.join(directory, markerName);
  const members = (await readdir(directory)).filter((name) => !name.startsWith(markerName));
  if (members.length === 0) await putMarker(directory, installation);
  const found = await readOptional(marker);
  if (found === undefined) throw foreign(directory, 'it holds other files');
  if (found !== installation) throw foreign(directory, `it belongs to the installation ${found}`);
}

async function putMarker(directory: string, installation: string): Promise<void> {
  const aside = await mkdtemp(path.join(directory, `${markerName}-`));
  try {
    await writeFile(path.join(aside, markerName), installation);
    await link(path.join(aside, markerName), path.join(directory, markerName));
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
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
