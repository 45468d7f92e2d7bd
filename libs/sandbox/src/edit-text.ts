import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';

export interface TextEdit {
  /** Taken literally, line breaks and spaces included. */
  readonly find: string;
  readonly replace: string;
  /** Replace every occurrence. Default: there must be exactly one. */
  readonly all?: boolean;
}

/** Applies the edits in order, each on the result of the one before. Throws EDIT_REFUSED; `path` is for its text. */
export function editText(
  path: string,
  text: string,
  edits: readonly TextEdit[],
): { readonly text: string; readonly replacements: number } {
  let replacements = 0;
  let result = text;
  for (const edit of edits) {
    const found = countOccurrences(result, edit.find);
    if (edit.find === '') throw refused(path, 'the passage to find is empty');
    if (edit.find === edit.replace) throw refused(path, 'it replaces a passage by itself');
    if (found === 0) throw refused(path, 'the passage does not occur in the file');
    if (found > 1 && !edit.all) throw refused(path, `the passage occurs ${found} times`);
    result = result.split(edit.find).join(edit.replace);
    replacements += found;
  }
  if (edits.length === 0) throw refused(path, 'it names no passage');
  return { text: result, replacements };
}

function countOccurrences(text: string, passage: string): number {
  return passage === '' ? 0 : text.split(passage).length - 1;
}

function refused(path: string, reason: string): FlotillaError {
  return new FlotillaError(errors.editRefused, { path, reason });
}
