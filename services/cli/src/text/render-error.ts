import type { FlotillaError } from '@flotilla/errors/flotilla-error';
import type { Palette } from './paint.ts';
import { visibleText } from './visible-text.ts';

/** An error as it is told on standard error: one JSON document, or two lines for a person. */
export function renderError(
  { code, message, advice, details }: FlotillaError,
  json: boolean,
  palette: Palette,
): string {
  if (!json) return `${palette.red('error')} ${code}: ${visibleText(message)}\n  ${visibleText(advice)}`;
  const violations = Array.isArray(details['violations']) ? (details['violations'] as readonly unknown[]) : [];
  return JSON.stringify({ code, message, advice, ...(violations.length === 0 ? {} : { violations }) });
}
