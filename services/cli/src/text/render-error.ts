import { problemOf } from '@flotilla/contracts/problem';
import type { FlotillaError } from '@flotilla/errors/flotilla-error';
import { nameCommands } from './name-command.ts';
import type { Palette } from './paint.ts';
import { visibleText } from './visible-text.ts';

/** An error as it is told on standard error: one problem document on a line, or two lines for a person. */
export function renderError(
  error: FlotillaError,
  { json, command, palette }: { readonly json: boolean; readonly command: string; readonly palette: Palette },
): string {
  const advice = nameCommands(error.advice, command);
  if (json) return JSON.stringify({ ...problemOf(error), advice });
  return `${palette.red('error')} ${error.code}: ${visibleText(error.message)}\n  ${visibleText(advice)}`;
}
