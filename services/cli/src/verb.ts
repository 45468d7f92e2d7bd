import type { CallName } from '@flotilla/contracts/call-catalogue';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import type { z } from 'zod';
import type { ExitCode } from './exit-codes.ts';
import type { Session } from './session.ts';

export interface VerbArgument {
  readonly name: string;
  readonly summary: string;
  readonly optional?: boolean;
  /** True where several may be given; they are a list. The last argument alone. */
  readonly repeatable?: boolean;
}

/** An argument as usage lines write it. */
export function writeArgument({ name, optional, repeatable }: VerbArgument): string {
  const written = repeatable === true ? `${name}...` : name;
  return optional === true ? `[${written}]` : `<${written}>`;
}

export interface VerbOption {
  /** As commander reads them, for example `--branch <name>`. */
  readonly flags: string;
  readonly summary: string;
  /** True where it may be given several times; its values are a list. */
  readonly repeatable?: boolean;
  /** Long names of options that contradict it, for example `--check`. An option contradicts its own `--no-` form anyway. */
  readonly excludes?: readonly string[];
}

/** Arguments and options of one invocation, by name. */
export type Given = Readonly<Record<string, unknown>>;

/** A verb of the command line, as data: the program, its help and the reference are made from it. */
export interface Verb {
  /** Words after `flotilla`. */
  readonly name: string;
  readonly summary: string;
  readonly arguments: readonly VerbArgument[];
  readonly options: readonly VerbOption[];
  readonly examples: readonly { readonly command: string; readonly summary: string }[];
  /** Words that it prints, and what they mean. */
  readonly words?: {
    readonly title: string;
    readonly meanings: readonly (readonly [word: string, meaning: string])[];
  };
  /** What it prints with --json. */
  readonly json: string;
  /** Calls it makes. */
  readonly calls: readonly CallName[];
  readonly run: (given: Given, session: Session) => Promise<ExitCode>;
}

/** What was given, checked. Throws USAGE_INVALID. */
export function readGiven<Schema extends z.ZodType>(verb: string, schema: Schema, given: Given): z.output<Schema> {
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const reason = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
  throw new FlotillaError(errors.usageInvalid, { verb, reason });
}
