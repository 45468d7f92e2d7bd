import type { Grants, Mode } from '@flotilla/contracts/grants';

/** One call as the caller resolved it. */
export interface ToolCall {
  readonly tool: string;
  readonly capability: string;
  /** True where this call may change the workspace; a capability that mutates always counts as mutating. */
  readonly mutates: boolean;
  /** Every path the call reads or changes: workspace-relative, links resolved, the very objects that will be opened. */
  readonly paths: readonly string[];
  readonly command?: string;
}

export interface PolicyContext {
  /** One document, or several that must all permit (see `intersectGrants`). */
  readonly grants: Grants | GrantLayers;
  readonly mode: Mode;
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
  | 'MODE_READS_ONLY'
  | 'PATH_NOT_CANONICAL'
  | 'PATH_INVISIBLE_CHARACTERS'
  | 'PATH_PROTECTED'
  | 'PATH_OUTSIDE_GRANT'
  | 'PATH_EXCLUDED'
  | 'LIMIT_NOT_EVALUABLE';

export interface PolicyDecision {
  readonly verdict: Verdict;
  readonly code: PolicyCode;
  /** A sentence without full stop, for the model and the log. */
  readonly reason: string;
}
