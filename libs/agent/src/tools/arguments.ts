import { z } from 'zod';

export const path = z.string().min(1).max(1024).describe('Path relative to the workspace.');
export const optionalPath = path
  .optional()
  .describe('Directory relative to the workspace; default: the whole workspace.');
