import type { Grants, Mode } from '@flotilla/contracts/grants';
import type { Classification } from './command/classify-command.ts';

/** One call as the caller resolved it. */
export interface ToolCall {
  readonly tool: string;
  readonly capability: string;
  /** True where this call may change the workspace; a capability that mutates always counts as mutating. */
  readonly mutates: boolean;
  /** Every path the call reads or changes: workspace-relative, links resolved, the very objects that will be opened. */
  readonly paths: readonly string[];
  /** The command line as the shell will get it. */
  readonly command?: string;
}

export interface PolicyContext {
  /** One document, or several that must all permit (see `intersectGrants`). */
  readonly grants: Grants | GrantLayers;
  /** Read anew for each call: a run that is lowered is bound from its next call on. */
  readonly mode: Mode;
  /** Whether commands of this step can reach a network. Default: they cannot. */
  readonly network?: boolean;
  /** Agents above the one that calls; the step's own agent has none, which is the default. */
  readonly depth?: number;
}

/** Documents that all must permit a call; none permits nothing. */
export type GrantLayers = readonly Grants[];

/** From free to forbidden. */
export const verdicts = ['allow', 'ask', 'refuse'] as const;
export type Verdict = (typeof verdicts)[number];

export type PolicyCode =
  | 'GRANTED'
  | 'ASK_FIRST'
  | 'UNKNOWN_CAPABILITY'
  | 'NOT_GRANTED'
  | 'TOO_DEEP'
  | 'MODE_READS_ONLY'
  | 'PATH_NOT_CANONICAL'
  | 'PATH_INVISIBLE_CHARACTERS'
  | 'PATH_PROTECTED'
  | 'PATH_OUTSIDE_GRANT'
  | 'PATH_EXCLUDED'
  | 'COMMAND_REFUSED'
  | 'COMMAND_OUTSIDE_GRANT'
  | 'NO_NETWORK'
  | 'LIMIT_NOT_EVALUABLE';

export interface PolicyDecision {
  readonly verdict: Verdict;
  readonly code: PolicyCode;
  /** A sentence without full stop, for the model and the log; what is not seen is written out in it. */
  readonly reason: string;
  /** What the command was found to do, for the person who is asked; present where the call has one that was looked at. */
  readonly command?: Classification;
}
