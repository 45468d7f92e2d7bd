import type { MessageContract } from './define-message.ts';
import { BuildStepRequested } from './messages/build-step-requested.ts';
import { LandStepRequested } from './messages/land-step-requested.ts';
import { LogAdvanced } from './messages/log-advanced.ts';
import { OpenStepRequested } from './messages/open-step-requested.ts';
import { PlanStepRequested } from './messages/plan-step-requested.ts';
import { RememberStepRequested } from './messages/remember-step-requested.ts';
import { ReviewStepRequested } from './messages/review-step-requested.ts';
import { SetupStepRequested } from './messages/setup-step-requested.ts';
import { StepCompleted } from './messages/step-completed.ts';
import { TaskSubmitted } from './messages/task-submitted.ts';
import { VerifyStepRequested } from './messages/verify-step-requested.ts';
import type { Verb } from './verbs.ts';

/** The work a step of each verb asks for, in the order a task usually meets it. */
export const stepRequests = {
  open: OpenStepRequested,
  setup: SetupStepRequested,
  plan: PlanStepRequested,
  build: BuildStepRequested,
  review: ReviewStepRequested,
  verify: VerifyStepRequested,
  land: LandStepRequested,
  remember: RememberStepRequested,
} as const satisfies Readonly<Record<Verb, unknown>>;

/**
 * Every message that crosses a service boundary: the table of contents of the fleet.
 * The payload types differ, and a list can only be read through what they share.
 */
export const catalogue = [
  TaskSubmitted,
  ...Object.values(stepRequests),
  StepCompleted,
  LogAdvanced,
] as unknown as readonly MessageContract[];
