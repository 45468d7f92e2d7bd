import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';

/** Deepest nesting of a body; no call needs more than four. */
export const JSON_DEPTH = 16;

/**
 * Reads a body: UTF-8, nested at most JSON_DEPTH deep, no key twice, no `__proto__`. An empty body reads as an empty
 * object. The limits hold before anything is parsed. Throws BODY_UNREADABLE.
 */
export function readJson(bytes: Uint8Array): unknown {
  if (bytes.length === 0) return {};
  const text = decode(bytes);
  const fault = findFault(text);
  if (fault !== undefined) throw unreadable(fault);
  try {
    return JSON.parse(text);
  } catch {
    throw unreadable('it is not JSON');
  }
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw unreadable('it is not UTF-8');
  }
}

/** Walks over brackets and strings only; whether the rest is JSON is the parser's to say. */
function findFault(text: string): string | undefined {
  const open: (Set<string> | undefined)[] = [];
  let expectsKey = false;
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at];
    if (sign === '"') {
      const end = endOfString(text, at);
      const keys = expectsKey ? open.at(-1) : undefined;
      if (keys !== undefined) {
        const key = readKey(text.slice(at, end + 1));
        if (key === '__proto__') return 'it has the key __proto__';
        if (keys.has(key)) return 'it has a key twice';
        keys.add(key);
      }
      expectsKey = false;
      at = end;
    } else if (sign === '{' || sign === '[') {
      open.push(sign === '{' ? new Set() : undefined);
      if (open.length > JSON_DEPTH) return `it is nested deeper than ${JSON_DEPTH}`;
      expectsKey = sign === '{';
    } else if (sign === '}' || sign === ']') {
      open.pop();
      expectsKey = false;
    } else if (sign === ',') {
      expectsKey = open.at(-1) !== undefined;
    }
  }
  return undefined;
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '"') return at;
  }
  return text.length;
}

/** Two spellings of one key, such as `a` and its escape, are one key. */
function readKey(quoted: string): string {
  try {
    return String(JSON.parse(quoted));
  } catch {
    return quoted;
  }
}

function unreadable(reason: string): FlotillaError {
  return new FlotillaError(errors.bodyUnreadable, { reason, depth: JSON_DEPTH });
}
