import type { Finding } from '@flotilla/contracts/change';
import type { Feedback } from '@flotilla/contracts/step-request';

export const roles = ['planner', 'executor', 'reviewer', 'scribe'] as const;
export type Role = (typeof roles)[number];

/** What a role is asked to do. Every text in it is data: from people, repositories and models. */
export type AgentTask =
  | { readonly role: 'planner'; readonly goal: string; readonly map?: string }
  | {
      readonly role: 'executor';
      readonly goal: string;
      readonly plan?: string;
      readonly feedback: readonly Feedback[];
      readonly map?: string;
    }
  | {
      readonly role: 'reviewer';
      readonly goal: string;
      readonly plan?: string;
      readonly diff: string;
      readonly diffTruncated: boolean;
      /** Commands that passed on exactly this tree. */
      readonly checksPassed: readonly string[];
    }
  | {
      readonly role: 'scribe';
      readonly goal: string;
      readonly result: string;
      /** What happened, a line an entry. */
      readonly timeline: string;
      readonly diff?: string;
    };

/** What a role hands in by calling `finish`. */
export type AgentReport =
  | { readonly role: 'planner'; readonly plan: string }
  | { readonly role: 'executor'; readonly summary: string }
  | {
      readonly role: 'reviewer';
      readonly verdict: 'approve' | 'request_changes';
      readonly summary: string;
      readonly findings: readonly Finding[];
    }
  | { readonly role: 'scribe'; readonly summary: string; readonly memories: readonly ProposedMemory[] };

export interface ProposedMemory {
  readonly kind: 'learning' | 'pattern' | 'decision';
  readonly title: string;
  readonly text: string;
}
