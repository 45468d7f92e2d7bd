/**
 * A key that an object of this JSON text states twice, which a parser would silently read as its last value; undefined where there
 * is none. Wants a text that `JSON.parse` accepts. Keys are compared as they are read, whatever their escapes.
 */
export function findDuplicateKey(json: string): string | undefined {
  const open: Set<string>[] = [];
  // A string with what follows it, or a bracket; everything else of a valid text holds neither quotes nor brackets.
  for (const [token, text] of json.matchAll(/("(?:[^"\\]|\\.)*")(?:\s*:)?|[{}[\]]/g)) {
    if (token === '{' || token === '[') open.push(new Set());
    else if (token === '}' || token === ']') open.pop();
    else if (text !== undefined && token !== text) {
      // A string of a valid text is a valid text, and read as a string.
      const key = JSON.parse(text) as string;
      const keys = open.at(-1);
      if (keys?.has(key) === true) return key;
      keys?.add(key);
    }
  }
  return undefined;
}
