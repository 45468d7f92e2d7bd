import { z } from 'zod';

/** One of some words; another is told with all of them. */
export function oneOf<const Words extends readonly string[]>(words: Words) {
  return z.enum(words, `one of ${words.join(', ')}`);
}
