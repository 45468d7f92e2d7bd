import type { SecretKey } from './secret-key.ts';

const limitCharacters = 500;
const placeholder = '[redacted]';
/** Shapes of provider keys, for one that is not the configured one or is cut short. */
const keyShapes = /\b(?:sk|key|pk)-[\w-]{8,}|\bBearer\s+[\w.~+/=-]{8,}/gi;

/**
 * A provider's words made fit for an error: the key in any of its spellings removed, control characters replaced,
 * and only then cut to 500 characters, so that a cut leaves no half of a key.
 */
export function redact(text: string, key: SecretKey | undefined): string {
  const clean = spellings(key?.reveal()).reduce((held, spelling) => held.replaceAll(spelling, placeholder), text);

  const plain = clean
    .replace(keyShapes, placeholder)
    .replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ')
    .trim();
  return plain.length > limitCharacters ? `${plain.slice(0, limitCharacters)}…` : plain;
}

function spellings(value: string | undefined): readonly string[] {
  if (value === undefined || value === '') return [];
  const base64 = Buffer.from(value).toString('base64');
  const all = [
    value,
    JSON.stringify(value).slice(1, -1),
    encodeURIComponent(value),
    base64,
    base64.replace(/=+$/, ''),
    Buffer.from(value).toString('base64url'),
  ];
  return [...new Set(all)].sort((a, b) => b.length - a.length);
}
