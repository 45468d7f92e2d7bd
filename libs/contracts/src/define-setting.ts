import type { z } from 'zod';
import type { ServiceName } from './services.ts';

/** One thing an operator may set, by an environment variable of this name. */
export interface SettingDefinition<Schema extends z.ZodType = z.ZodType> {
  readonly variable: string;
  readonly summary: string;
  /** Reads the variable's text; its default, if it has one, is the schema's. */
  readonly schema: Schema;
  /** Services that do not start without it; `all`, or absent where it may be left out. */
  readonly requiredBy?: readonly ServiceName[] | 'all';
  /** Services that are given it at all; default: every service. */
  readonly usedBy?: readonly ServiceName[];
  /** True where the value must never be shown. */
  readonly secret?: boolean;
  /** Shown in the reference where there is no default. */
  readonly example?: string;
}

export function defineSetting<Schema extends z.ZodType>(
  definition: SettingDefinition<Schema>,
): SettingDefinition<Schema> {
  return definition;
}
