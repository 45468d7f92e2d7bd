import { escapeInvisible } from './visible-text.ts';

export interface HiddenText {
  /** Values that must never be shown, such as a token; their base64 and percent-encoded forms are hidden as well. */
  readonly secrets?: readonly string[] | undefined;
  /** Local paths that mean nothing to the reader. */
  readonly paths?: readonly string[] | undefined;
}

const lengthLimit = 2000;

/** Makes a program's text fit for an error: no credential, no path of ours, no control character, at most 2000 characters. */
export function scrubText(text: string, hidden: HiddenText = {}): string {
  let scrubbed = text;
  for (const secret of (hidden.secrets ?? []).flatMap(formsOf)) scrubbed = scrubbed.replaceAll(secret, '<secret>');
  for (const path of longestFirst(hidden.paths ?? [])) scrubbed = scrubbed.replaceAll(path, '<path>');
  scrubbed = scrubbed.replace(/([a-z][a-z0-9+.-]*:\/\/)[^\s/@'"]+@/gi, '$1');
  scrubbed = scrubbed.replace(/\b(authorization:\s*)(\S+\s+)?\S+/gi, '$1<secret>');
  const lines = scrubbed
    .split(/[\r\n]+/)
    .map((line) => escapeInvisible(line).trimEnd())
    .filter((line) => line !== '');
  const joined = lines.join('\n');
  return joined.length > lengthLimit ? `${joined.slice(0, lengthLimit)} …` : joined;
}

function formsOf(secret: string): readonly string[] {
  if (secret.length < 4) return secret === '' ? [] : [secret];
  const base64 = Buffer.from(secret).toString('base64');
  return longestFirst([secret, encodeURIComponent(secret), base64, base64.replace(/=+$/, '')]);
}

function longestFirst(texts: readonly string[]): readonly string[] {
  return texts.filter((text) => text.length > 1).toSorted((left, right) => right.length - left.length);
}
