import { PAGE_LIMIT } from '@flotilla/contracts/calls/shapes';
import { z } from 'zod';
import type { VerbOption } from '../verb.ts';

const range = `a whole number from 1 to ${PAGE_LIMIT}`;
const count = 'a whole number from 0 on';

/** Option of every list: entries at most. */
export const Limit = z.coerce.number(range).int(range).min(1, range).max(PAGE_LIMIT, range).default(20);

/** Place in a log, 0 before its first entry. */
export const Sequence = z.coerce.number(count).int(count).nonnegative(count);

export function limitOption(things: string, byDefault = 20): VerbOption {
  return { flags: '-n, --limit <count>', summary: `${things} at most, 1 to ${PAGE_LIMIT}; default ${byDefault}` };
}
