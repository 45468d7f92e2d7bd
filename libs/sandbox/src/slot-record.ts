import fs from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import type { DirectoryHandle } from './directory-handle.ts';
import { errorCode } from './directory-handle.ts';
import type { SlotClaim } from './slot-labels.ts';

/** What stands beside a slot's workspace, outside of what its container sees: who made it, and for which attempt. */
export interface SlotRecord {
  readonly owner: string;
  readonly claim: SlotClaim | undefined;
}

const fileName = 'slot.json';
const removed = 'it was removed, as the slot of a process that stood still or had ended';

/** Throws SLOT_LOST where somebody removed the slot. */
export async function writeSlotRecord(slotDirectory: string, record: SlotRecord): Promise<void> {
  const file = path.join(slotDirectory, fileName);
  try {
    await writeFile(`${file}.new`, JSON.stringify(record));
    await rename(`${file}.new`, file);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    throw new FlotillaError(errors.slotLost, { slot: path.basename(slotDirectory), reason: removed }, { cause: error });
  }
}

/**
 * Throws SLOT_LOST once somebody removed the slot, or began to. A process that stood still looks after what it read of a workspace,
 * rather than before: the record goes before anything else does.
 */
export function requireSlotRecord(slotDirectory: string): void {
  if (fs.lstatSync(path.join(slotDirectory, fileName), { throwIfNoEntry: false }) !== undefined) return;
  throw new FlotillaError(errors.slotLost, { slot: path.basename(slotDirectory), reason: removed });
}

/** Safe to repeat. */
export function removeSlotRecord(slotDirectory: DirectoryHandle): void {
  if (slotDirectory.stat(fileName) !== undefined) slotDirectory.unlink(fileName);
}

/** Undefined when the slot was never finished, or is gone. */
export async function readSlotRecord(slotDirectory: string): Promise<SlotRecord | undefined> {
  try {
    const parsed: unknown = JSON.parse(await readFile(path.join(slotDirectory, fileName), 'utf8'));
    return isSlotRecord(parsed) ? { owner: parsed.owner, claim: parsed.claim } : undefined;
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function isSlotRecord(value: unknown): value is SlotRecord {
  return typeof value === 'object' && value !== null && 'owner' in value && typeof value.owner === 'string';
}
