import type { AgentOutcome } from '@flotilla/agent/agent-outcome';
import type { ModelPort } from '@flotilla/agent/ports';
import type { LogEntry } from '@flotilla/contracts/log-entry';
import type { RememberStepRequested } from '@flotilla/contracts/messages/remember-step-requested';
import type { StepContext } from '@flotilla/host/step-work';
import { noWorkspace } from '@flotilla/workplace/no-workspace';
import { runStepAgent } from '@flotilla/workplace/run-step-agent';
import { findLandedDiff } from './domain/find-landed-diff.ts';
import { writeTimeline } from './domain/write-timeline.ts';
import type { RunWriter } from './remember-run.handler.ts';

/** The agent in the role of the scribe: it has no slot, and no tool but handing in. */
export class AgentRunWriter implements RunWriter {
  readonly #model: ModelPort;
  readonly #now: () => number;

  constructor(model: ModelPort, now: () => number) {
    this.#model = model;
    this.#now = now;
  }

  write(request: RememberStepRequested, log: readonly LogEntry[], context: StepContext): Promise<AgentOutcome> {
    const diff = findLandedDiff(log);
    return runStepAgent(
      {
        task: {
          role: 'scribe',
          goal: request.goal,
          result: request.result,
          timeline: writeTimeline(log).join('\n'),
          ...(diff === undefined ? {} : { diff }),
        },
        request: { ...request, grants: {} },
        model: this.#model,
        workspace: noWorkspace(),
        checks: [],
        now: this.#now,
      },
      context,
    );
  }
}
