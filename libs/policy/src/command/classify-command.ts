import { decideByClasses, worstClass, type CommandClass, type CommandVerdict } from './command-class.ts';
import { Findings, showWords, type Finding } from './findings.ts';
import { LENGTH_LIMIT } from './limits.ts';
import { walkText } from './walk-script.ts';

export interface ClassifyOptions {
  /** False where the step has no network: a NETWORK part is refused then. True unless said. */
  readonly network?: boolean;
}

export interface Classification {
  /** The worst class of the parts. */
  readonly class: CommandClass;
  /** The classes of all parts, from harmless to forbidden. */
  readonly classes: readonly CommandClass[];
  /** By the set of classes, never by the label. */
  readonly verdict: CommandVerdict;
  /** True where nobody can take back what a part does, or where a part could not be followed at all: never covered by a mode. */
  readonly irreversible: boolean;
  /** A phrase for each part that is more than reading, the worst first; empty for a command that only reads. */
  readonly reasons: readonly string[];
  /** The parts as they were found, up to fifty. */
  readonly parts: readonly Finding[];
}

/**
 * What a shell command may do, told without running anything. Never throws: what cannot be read, is computed, or goes past a
 * limit is MUTATING or worse. Text that is only quoted, commented or searched for is data and raises nothing.
 */
export function classifyCommand(text: string, options: ClassifyOptions = {}): Classification {
  const findings = new Findings();
  const read = text.length > LENGTH_LIMIT ? text.slice(0, LENGTH_LIMIT) : text;
  const add = (why: string, irreversible: boolean): void => {
    findings.add({ command: showWords(read), class: 'MUTATING', why, irreversible });
  };
  if (read.length < text.length) add(`is longer than ${LENGTH_LIMIT} characters`, true);
  if (/[\0-\x08\x0b-\x1f\x7f]/.test(read)) add('holds control characters', false);
  if (!read.isWellFormed()) add('is no well-formed text', false);
  walkText(read, findings);
  const classes = findings.ordered();
  return {
    class: worstClass(classes),
    classes: classes.length === 0 ? ['READ_ONLY'] : classes,
    verdict: decideByClasses(classes, options.network ?? true),
    irreversible: findings.irreversible,
    reasons: giveReasons(findings.shown),
    parts: findings.shown,
  };
}

const REASONS_LIMIT = 12;

function giveReasons(found: readonly Finding[]): readonly string[] {
  return found
    .filter((finding) => finding.class !== 'READ_ONLY')
    .toSorted((one, other) =>
      worstClass([one.class, other.class]) === one.class ? (one.class === other.class ? 0 : -1) : 1,
    )
    .slice(0, REASONS_LIMIT)
    .map((finding) => `${finding.class}: ${finding.command}: ${finding.why}`);
}
