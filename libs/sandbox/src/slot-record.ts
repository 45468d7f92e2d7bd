import { readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { errorCode } from './directory-handle.ts';
import type { SlotClaim } from './slot-labels.ts';

/** What stands beside a slot's workspace, outside of what its container sees: who made it, and for which attempt. */
export interface SlotRecord {
  readonly owner: string;
  readonly claim: SlotClaim | undefined;
}

const fileName = 'slot.json';

export async function writeSlotRecord(slotDirectory: string, record: SlotRecord): Promise<void> {
  const file = path.join(slotDirectory, fileName);
  await writeFile(`${file}.new`, JSON.stringify(record));
  await rename(`${file}.new`, file);
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
