import { commandClasses, type CommandClass } from './command-class.ts';

/** One thing found in a command. */
export interface Finding {
  /** The words it was found in, shortened and without control characters. */
  readonly command: string;
  readonly class: CommandClass;
  /** A phrase that follows the words: "removes a tree by force". */
  readonly why: string;
  readonly irreversible: boolean;
}

/** Most parts that a command may have, and most that are kept to be shown. */
export const PARTS_LIMIT = 1000;
const SHOWN_LIMIT = 50;

/** Thrown to leave a walk that has gone past a limit; the classifier turns it into a finding. */
export class LimitReached extends Error {}

/** Collects what is found while a command is walked; the walk is over when the parts are too many. */
export class Findings {
  readonly classes = new Set<CommandClass>();
  readonly shown: Finding[] = [];
  irreversible = false;
  count = 0;
  /** How many parts reach a network, and how many run what nobody has read. */
  networks = 0;
  unread = 0;

  add(finding: Finding): void {
    this.count += 1;
    this.classes.add(finding.class);
    if (finding.class === 'NETWORK') this.networks += 1;
    this.irreversible ||= finding.irreversible || finding.class === 'DESTRUCTIVE';
    if (this.shown.length < SHOWN_LIMIT && !this.shown.some((other) => isSame(other, finding)))
      this.shown.push(finding);
  }

  /** The classes so far, which are set aside to see those of one command alone. */
  takeClasses(): readonly CommandClass[] {
    const taken = [...this.classes];
    this.classes.clear();
    return taken;
  }

  giveBackClasses(taken: readonly CommandClass[]): void {
    for (const each of taken) this.classes.add(each);
  }

  /** From harmless to forbidden. */
  ordered(): readonly CommandClass[] {
    return commandClasses.filter((each) => this.classes.has(each));
  }
}

function isSame(one: Finding, other: Finding): boolean {
  return one.command === other.command && one.class === other.class && one.why === other.why;
}

/** Words as they may be shown: short, on one line, without characters that a terminal obeys or hides. */
export function showWords(text: string): string {
  const short = text.length > 120 ? `${text.slice(0, 117)}...` : text;
  return short.replaceAll(HOLE, '?').replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}]/gu, (character) => {
    return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
  });
}

/** Stands in a word for what only the shell will know. */
export const HOLE = '\u{e000}';
