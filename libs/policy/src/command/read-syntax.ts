import type { ParsedScript } from 'unbash';

/** What stands after the place that could not be read, which some shell may yet run; nothing where a quote or a body never ends. */
export function restAfterError(script: ParsedScript, text: string): string | undefined {
  const error = script.errors?.[0];
  if (error === undefined || /untermin|unclosed|expected.*(quote|delimiter)|here-?doc/i.test(error.message))
    return undefined;
  const start = Math.max(error.pos, 1);
  return start >= text.length ? undefined : text.slice(start);
}

/** Two words side by side are no arithmetic. */
export function looksLikeCommand(body: string): boolean {
  return /[\w)\]}"']\s+[\w$"'(~./]/.test(body.slice(0, 1024));
}

/** A substitution in a subscript, which arithmetic runs even where quotes had hidden it. */
export function hidesSubstitution(text: string): boolean {
  return /\[[^\]]*(\$[({]|`)/.test(text.slice(0, 4096));
}
