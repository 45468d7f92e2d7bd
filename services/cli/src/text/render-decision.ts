import type { GateDecision } from '@flotilla/contracts/calls/gate-view';
import { visibleLine } from './visible-text.ts';

/** What a person decided, as a past participle. */
export const decisionWords: Readonly<Record<GateDecision, string>> = {
  approve: 'approved',
  request_changes: 'changes requested',
  decline: 'declined',
};

export interface Decided {
  readonly decision: GateDecision;
  readonly by: string;
  readonly at: string;
  readonly commit: string;
  readonly comment?: string | undefined;
}

/** Who decided what and when, and on a second line their words where there are any. */
export function renderDecision({ decision, by, at, commit, comment }: Decided): readonly string[] {
  return [
    `${decisionWords[decision]} by ${visibleLine(by)} at ${at}, commit ${commit}`,
    ...(comment === undefined ? [] : [`  ${visibleLine(comment, 2000)}`]),
  ];
}
