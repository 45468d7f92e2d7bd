import { agentErrors } from './catalogue/agent.ts';
import { archiveErrors } from './catalogue/archive.ts';
import { bringUpErrors } from './catalogue/bring-up.ts';
import { cliErrors } from './catalogue/cli.ts';
import { fleetErrors } from './catalogue/fleet.ts';
import { gatewayErrors } from './catalogue/gateway.ts';
import { gitErrors } from './catalogue/git.ts';
import { landingErrors } from './catalogue/landing.ts';
import { hostErrors } from './catalogue/host.ts';
import { modelErrors } from './catalogue/model.ts';
import { policyErrors } from './catalogue/policy.ts';
import { sandboxErrors } from './catalogue/sandbox.ts';
import { storeErrors } from './catalogue/store.ts';
import { streamErrors } from './catalogue/stream.ts';
import { taskErrors } from './catalogue/task.ts';
import { workflowErrors } from './catalogue/workflow.ts';
import type { ErrorDefinition } from './flotilla-error.ts';

/** Every error the fleet raises on purpose, by area. Codes are never reused; infra/reference/errors.md is generated from this. */
export const errors = {
  ...agentErrors,
  ...archiveErrors,
  ...bringUpErrors,
  ...cliErrors,
  ...fleetErrors,
  ...gatewayErrors,
  ...gitErrors,
  ...landingErrors,
  ...hostErrors,
  ...modelErrors,
  ...policyErrors,
  ...sandboxErrors,
  ...storeErrors,
  ...streamErrors,
  ...taskErrors,
  ...workflowErrors,
} as const satisfies Readonly<Record<string, ErrorDefinition>>;
