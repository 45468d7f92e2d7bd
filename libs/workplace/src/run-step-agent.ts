import { createHash } from 'node:crypto';
import type { Allowance } from '@flotilla/contracts/allowance';
import type { Grants, Mode } from '@flotilla/contracts/grants';
import type { RunId, StepId } from '@flotilla/contracts/ids';
import { modeOf } from '@flotilla/contracts/step-request';
import type { AgentOutcome } from '@flotilla/agent/agent-outcome';
import type { AgentTask } from '@flotilla/agent/agent-task';
import type { Verification } from '@flotilla/agent/decide-next';
import type { CheckpointPort, HandInPort, ModelPort, WorkspacePort } from '@flotilla/agent/ports';
import { runAgent } from '@flotilla/agent/run-agent';
import type { StepContext } from '@flotilla/host/step-work';
import { bindJournal, bindLive, bindTrace, splitCancel } from './agent-ports.ts';

/** What every step of an agent is asked with. */
export interface AgentStepRequest {
  readonly runId: RunId;
  readonly stepId: StepId;
  readonly attempt: number;
  readonly mode: Mode;
  readonly asksFirst?: boolean | undefined;
  readonly grants: Grants;
  readonly allowance: Allowance;
}

export interface StepAgent {
  readonly task: AgentTask;
  readonly request: AgentStepRequest;
  readonly model: ModelPort;
  readonly workspace: WorkspacePort;
  /** Commands that check the project, as it declares them. */
  readonly checks: readonly string[];
  /** Default: off. */
  readonly verification?: Verification;
  /** Absent where the step cannot change files. */
  readonly checkpoint?: CheckpointPort;
  /** Absent where the workspace is not handed in. */
  readonly handIn?: HandInPort;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/**
 * Runs an agent on a step whose workspace is ready, over the step's log as its journal. A person's cancelling ends it in
 * order; a lost lease, a deadline or a shutdown is thrown, and another process goes on from the journal.
 */
export async function runStepAgent(agent: StepAgent, context: StepContext): Promise<AgentOutcome> {
  const { task, request, model, workspace, checks, verification, checkpoint, handIn, now } = agent;
  const { grants, allowance } = request;
  const signals = splitCancel(context);
  try {
    return await runAgent(
      {
        task,
        grants,
        mode: modeOf(request),
        allowance,
        checks,
        nonce: nonceOf(request),
        signal: signals.stop,
        ...(verification === undefined ? {} : { verification }),
      },
      {
        model,
        workspace,
        journal: bindJournal(context),
        signals: signals.port,
        clock: { now },
        live: bindLive(context),
        trace: bindTrace(context),
        ...(checkpoint === undefined ? {} : { checkpoint }),
        ...(handIn === undefined ? {} : { handIn }),
      },
    );
  } finally {
    signals.dispose();
  }
}

/** A run's id is made at intake, after the task and the repository were written: neither can hold what follows from it. */
function nonceOf({ runId, stepId, attempt }: AgentStepRequest): string {
  return createHash('sha256').update(`${runId}/${stepId}/${attempt}`).digest('hex').slice(0, 16);
}
