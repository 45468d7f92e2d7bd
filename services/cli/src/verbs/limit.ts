import { PAGE_LIMIT } from '@flotilla/contracts/calls/shapes';
import { z } from 'zod';

/** Option of every list: entries at most. */
export const Limit = z.coerce.number('a whole number').int().min(1).max(PAGE_LIMIT).default(20);
