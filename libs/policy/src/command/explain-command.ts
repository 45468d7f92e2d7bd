import { classifyCommand, type Classification, type ClassifyOptions } from './classify-command.ts';
import { severityOf, summaryOfClass, type CommandVerdict } from './command-class.ts';
import { showWords, type Finding } from './findings.ts';

/** Says in words what a command may do, part by part, and what follows from it. Several lines, without a last newline. */
export function explainCommand(text: string, options: ClassifyOptions = {}): string {
  const found = classifyCommand(text, options);
  return [
    `${showWords(text.trim()) || '(nothing)'}`,
    `  is ${found.class}: it ${summaryOfClass[found.class]}.`,
    `  ${sayVerdict(found, options)}`,
    ...(found.irreversible
      ? ['  What it does cannot be taken back, so no mode and no earlier approval covers it.']
      : []),
    ...sayParts(found.parts),
  ].join('\n');
}

const sentenceOfVerdict: Readonly<Record<CommandVerdict, string>> = {
  allow: 'It runs without a question.',
  ask: 'A person is asked first; in auto mode it runs.',
  refuse: 'It is refused, and nobody is asked.',
};

function sayVerdict(found: Classification, options: ClassifyOptions): string {
  const withoutNetwork = options.network === false && found.classes.includes('NETWORK');
  if (withoutNetwork) return 'It is refused: it needs a network, and this step has none.';
  if (found.verdict === 'ask' && found.irreversible) return 'A person is asked first, in auto mode too.';
  return sentenceOfVerdict[found.verdict];
}

function sayParts(parts: readonly Finding[]): readonly string[] {
  if (parts.length === 0) return [];
  const ordered = parts.toSorted((one, other) => severityOf(other.class) - severityOf(one.class));
  return ['  Its parts:', ...ordered.map((part) => `    ${part.class}  ${part.command}: ${part.why}`)];
}
