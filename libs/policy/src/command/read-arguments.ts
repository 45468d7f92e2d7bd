import { isDynamic, type Field } from './read-words.ts';
import type { Form, OptionEffect } from './rule.ts';

export interface Option {
  readonly effect: OptionEffect;
  readonly value: Field | undefined;
  /** The words after the option, for one whose value is a command. */
  readonly rest: readonly Field[];
}

export interface Arguments {
  readonly operands: readonly Field[];
  /** Options with an effect. */
  readonly options: readonly Option[];
  /** All words that are options, as they are written, without their values. */
  readonly flags: readonly string[];
  /** Everything from the first operand on, options included; what a wrapper runs. */
  readonly tail: readonly Field[];
}

interface Known {
  readonly valued: ReadonlySet<string>;
  readonly effects: ReadonlyMap<string, OptionEffect>;
  readonly longs: readonly string[];
}

const knownOfForm = new WeakMap<Form, Known>();

function knownOptions(form: Form): Known {
  const cached = knownOfForm.get(form);
  if (cached !== undefined) return cached;
  const effects = new Map((form.effects ?? []).flatMap((effect) => effect.on.split(' ').map((name) => [name, effect])));
  const known = {
    valued: new Set(form.valued?.split(' ')),
    effects,
    longs: [...effects.keys()].filter((name) => name.startsWith('--')),
  };
  knownOfForm.set(form, known);
  return known;
}

/** Splits the words after a program's name by its own grammar of options. With `firstOnly` options end at the first operand. */
export function readArguments(words: readonly Field[], form: Form, firstOnly = false): Arguments {
  return new ArgumentReader(words, form).read(firstOnly);
}

class ArgumentReader {
  private readonly words: readonly Field[];
  private readonly form: Form;
  private readonly known: Known;
  private readonly operands: Field[] = [];
  private readonly options: Option[] = [];
  private readonly flags: string[] = [];
  private tail: readonly Field[] = [];
  private index = 0;

  constructor(words: readonly Field[], form: Form) {
    this.words = words;
    this.form = form;
    this.known = knownOptions(form);
  }

  read(firstOnly: boolean): Arguments {
    while (this.index < this.words.length) {
      const word = this.words[this.index];
      if (word === undefined) break;
      this.index += 1;
      if (word.text === '--') {
        this.addOperands(this.words.slice(this.index));
        break;
      }
      if (word.text.startsWith('-') && word.text !== '-') this.readOption(word);
      else if (this.known.effects.has(word.text)) this.readOption(word);
      else if (firstOnly) {
        this.addOperands(this.words.slice(this.index - 1));
        break;
      } else {
        if (this.operands.length === 0) this.tail = this.words.slice(this.index - 1);
        this.operands.push(word);
      }
    }
    return { operands: this.operands, options: this.options, flags: this.flags, tail: this.tail };
  }

  private addOperands(words: readonly Field[]): void {
    if (this.operands.length === 0) this.tail = words;
    this.operands.push(...words);
  }

  private readOption(word: Field): void {
    const { text } = word;
    if (this.form.style === 'single' || text.startsWith('--')) {
      const equals = text.indexOf('=');
      const name = equals === -1 ? text : text.slice(0, equals);
      this.flags.push(text);
      this.take(word, name, equals === -1 ? undefined : text.slice(equals + 1));
      return;
    }
    this.readCluster(word);
  }

  private readCluster(word: Field): void {
    const { text } = word;
    // A few programs have long options after one dash beside clusters (`-exec`, `-print`, `-classpath`).
    if (this.known.valued.has(text) || this.known.effects.has(text)) {
      this.flags.push(text);
      this.take(word, text, undefined);
      return;
    }
    for (let place = 1; place < text.length; place += 1) {
      const name = `-${text[place] ?? ''}`;
      this.flags.push(name);
      const value = text.slice(place + 1);
      const effect = this.known.effects.get(name);
      const wantsValue = this.known.valued.has(name);
      if (!wantsValue && effect === undefined) continue;
      this.take(
        word,
        name,
        wantsValue && value !== '' ? value.replace(/^=/, '') : undefined,
        wantsValue ? undefined : value,
      );
      if (wantsValue || effect?.value === 'program') return;
    }
  }

  private take(word: Field, name: string, given: string | undefined, cluster?: string): void {
    const effect = this.findEffect(name);
    let value: Field | undefined = given === undefined ? undefined : { text: given, computed: word.computed };
    if (value === undefined && this.isValued(name)) {
      value = this.words[this.index];
      this.index += 1;
    } else if (value === undefined && cluster !== undefined && cluster !== '')
      value = { text: cluster, computed: word.computed };
    if (effect === undefined) return;
    if (effect.unless !== undefined && value !== undefined && !isDynamic(value) && effect.unless.test(value.text))
      return;
    if (effect.when !== undefined && !(value !== undefined && (isDynamic(value) || effect.when.test(value.text))))
      return;
    const rest = effect.value === 'program' ? this.takeRest(value) : [];
    this.options.push({ effect, value, rest });
  }

  private takeRest(value: Field | undefined): readonly Field[] {
    const rest = this.words.slice(this.index);
    this.index = this.words.length;
    return value === undefined ? rest : [value, ...rest];
  }

  private isValued(name: string): boolean {
    if (this.known.valued.has(name)) return true;
    return name.startsWith('--') && name.length > 3 && this.form.style !== 'single' && this.isBeginningOfValued(name);
  }

  private isBeginningOfValued(name: string): boolean {
    const matching = [...this.known.valued].filter((each) => each.startsWith(name));
    return matching.length === 1;
  }

  private findEffect(name: string): OptionEffect | undefined {
    const exact = this.known.effects.get(name);
    if (exact !== undefined || !name.startsWith('--') || name.length < 4) return exact;
    if (this.known.valued.has(name)) return undefined;
    const long = this.known.longs.find((each) => each.startsWith(name));
    return long === undefined ? undefined : this.known.effects.get(long);
  }
}
