import { FlotillaError } from '@flotilla/errors/flotilla-error';
import type { ToolResult } from './define-tool.ts';

const fileProblems: Readonly<Record<string, readonly [code: string, text: string]>> = {
  ENOENT: ['FILE_MISSING', 'There is no such file or directory.'],
  ENOTDIR: ['FILE_KIND_WRONG', 'A part of the path is not a directory.'],
  EISDIR: ['FILE_KIND_WRONG', 'The path is a directory.'],
  ENOTEMPTY: ['NOT_EMPTY', 'The directory is not empty.'],
  EACCES: ['NOT_PERMITTED', 'The sandbox does not permit it.'],
  EPERM: ['NOT_PERMITTED', 'The sandbox does not permit it.'],
  ELOOP: ['PATH_REFUSED', 'The path goes through a link.'],
  ENAMETOOLONG: ['PATH_REFUSED', 'The path is too long.'],
  EFBIG: ['NO_SPACE', 'The file is too large.'],
};

/** Codes of failures that came before anything was changed. */
export const changelessCodes: readonly (string | undefined)[] = [
  'PATH_REFUSED',
  'FILE_MISSING',
  'FILE_KIND_WRONG',
  'FILE_TOO_LARGE',
  'FILE_NOT_TEXT',
  'COMMAND_REFUSED',
];

/** What went wrong inside the workspace, as a result for the model; undefined where the failure is ours to handle. */
export function toToolFailure(thrown: unknown): ToolResult | undefined {
  if (thrown instanceof FlotillaError)
    return thrown.remedy === 'caller'
      ? { ok: false, code: thrown.code, text: `${thrown.message}. ${thrown.advice}` }
      : undefined;
  const code = thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : '';
  const problem = Object.hasOwn(fileProblems, code) ? fileProblems[code] : undefined;
  return problem === undefined ? undefined : { ok: false, code: problem[0], text: problem[1] };
}
