import { classifyCommand, type Classification, type ClassifyOptions } from './classify-command.ts';

/** What is said of one line: `parts` are left out, the reasons name them. */
export type ClassifiedLine = { readonly id: string | number | null } & (
  Omit<Classification, 'parts'> | { readonly error: string }
);

/**
 * Classifies lines of `{"id": "...", "command": "..."}`. Every line that is not blank has its answer, in order, with the id it
 * came with; one that is no such object is answered with an `error` and the rest goes on. Never throws.
 */
export function* classifyLines(lines: Iterable<string>, options: ClassifyOptions = {}): Generator<ClassifiedLine> {
  let place = 0;
  for (const line of lines) {
    place += 1;
    if (line.trim() !== '') yield classifyLine(line, place, options);
  }
}

function classifyLine(line: string, place: number, options: ClassifyOptions): ClassifiedLine {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return { id: null, error: `line ${place} is not JSON` };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { id: null, error: `line ${place} is not an object with an id and a command` };
  const given = 'id' in value ? value.id : undefined;
  const id = typeof given === 'string' || typeof given === 'number' ? given : null;
  const command = 'command' in value ? value.command : undefined;
  if (typeof command !== 'string') return { id, error: `line ${place} has no command that is a string` };
  const { parts: _, ...classification } = classifyCommand(command, options);
  return { id, ...classification };
}
