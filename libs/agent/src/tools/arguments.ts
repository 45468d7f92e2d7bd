import { z } from 'zod';

const described = 'Path relative to the workspace.';
export const path = z.string().min(1).max(1024).describe(described);
/** A slash at the end would name a directory, and the file that is written is another object. */
export const filePath = z
  .string()
  .min(1)
  .max(1024)
  .refine((written) => !/\/\.?$/.test(written), 'a file has no slash at its end')
  .describe(described);
export const optionalPath = path
  .optional()
  .describe('Directory relative to the workspace; default: the whole workspace.');
