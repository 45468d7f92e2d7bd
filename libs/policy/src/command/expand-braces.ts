const WORDS_LIMIT = 64;
const LENGTH_LIMIT = 1024;
const DEPTH_LIMIT = 8;

/**
 * Brace expansion of a word as it is written (quotes and all), as bash does it before anything else.
 * Undefined where it would give more words than anyone means.
 */
export function expandBraces(text: string, depth = 0): readonly string[] | undefined {
  if (text.length > LENGTH_LIMIT || depth > DEPTH_LIMIT) return undefined;
  const place = findBraces(text);
  if (place === undefined) return [text];
  const before = text.slice(0, place.start);
  const tails = expandBraces(text.slice(place.end + 1), depth + 1);
  if (tails === undefined) return undefined;
  const middles: string[] = [];
  for (const alternative of place.alternatives) {
    const inner = expandBraces(alternative, depth + 1);
    if (inner === undefined) return undefined;
    middles.push(...inner);
  }
  if (middles.length * tails.length > WORDS_LIMIT) return undefined;
  return middles.flatMap((middle) => tails.map((tail) => `${before}${middle}${tail}`));
}

interface Braces {
  readonly start: number;
  readonly end: number;
  readonly alternatives: readonly string[];
}

function findBraces(text: string): Braces | undefined {
  let attempts = 0;
  for (let start = 0; start < text.length; start += 1) {
    start = skipQuoted(text, start);
    if (text[start] !== '{' || text[start - 1] === '$') continue;
    attempts += 1;
    if (attempts > WORDS_LIMIT) return undefined;
    const found = readBraces(text, start);
    if (found !== undefined) return found;
  }
  return undefined;
}

function readBraces(text: string, start: number): Braces | undefined {
  const commas: number[] = [];
  let depth = 0;
  for (let index = start; index < text.length; index += 1) {
    index = skipQuoted(text, index);
    if (text[index] === '{') depth += 1;
    else if (text[index] === ',' && depth === 1) commas.push(index);
    else if (text[index] === '}') {
      depth -= 1;
      if (depth > 0) continue;
      const inner = text.slice(start + 1, index);
      const alternatives = commas.length > 0 ? split(text, start, index, commas) : readSequence(inner);
      return alternatives === undefined ? undefined : { start, end: index, alternatives };
    }
  }
  return undefined;
}

function split(text: string, start: number, end: number, commas: readonly number[]): readonly string[] {
  const edges = [start, ...commas, end];
  return edges.slice(1).map((edge, index) => text.slice((edges[index] ?? start) + 1, edge));
}

function readSequence(inner: string): readonly string[] | undefined {
  const letters = /^([A-Za-z])\.\.([A-Za-z])(?:\.\.-?\d+)?$/.exec(inner);
  if (letters !== null) {
    const [from, to] = [letters[1]?.charCodeAt(0) ?? 0, letters[2]?.charCodeAt(0) ?? 0];
    return range(from, to).map((code) => String.fromCharCode(code));
  }
  const numbers = /^(-?\d{1,6})\.\.(-?\d{1,6})(?:\.\.-?\d+)?$/.exec(inner);
  if (numbers !== null) return range(Number(numbers[1]), Number(numbers[2])).map(String);
  return undefined;
}

function range(from: number, to: number): readonly number[] {
  const length = Math.min(Math.abs(to - from) + 1, WORDS_LIMIT);
  return Array.from({ length }, (_, index) => (to >= from ? from + index : from - index));
}

/** The place of the next character that is neither quoted nor escaped. */
function skipQuoted(text: string, from: number): number {
  let index = from;
  while (index < text.length) {
    if (text[index] === '\\') index += 2;
    else if (text[index] === "'" || text[index] === '"') {
      const end = text.indexOf(text[index] ?? '', index + 1);
      index = end === -1 ? text.length : end + 1;
    } else return index;
  }
  return index;
}
