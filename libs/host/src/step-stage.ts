import type { MessageContract } from '@flotilla/contracts/define-message';
import { stepLeaseKey } from '@flotilla/store/lease';
import type { RetryBudget } from '@flotilla/stream/decide-settlement';
import type { Stage } from '@flotilla/stream/stage';
import type { z } from 'zod';
import type { StepRequest } from './step-request.ts';
import type { StepWork } from './step-work.ts';

/** A stage whose message is a step and whose handler is a StepWork. */
export interface StepStage extends Stage {
  readonly step: true;
}

type StepWorkClass<Request extends StepRequest> = abstract new (...dependencies: never[]) => StepWork<Request>;

export interface StepStageOptions {
  /** Default: five attempts with growing delays. */
  readonly budget?: RetryBudget;
  /** Steps done at once by one process; a function is asked before each pull. */
  readonly concurrency: number | (() => number);
}

const defaultBudget: RetryBudget = { attempts: 5, delaysMs: [2_000, 10_000, 30_000, 60_000] };

/** A row of a worker's table: one kind of step and the class that does it, provided by the service's module. */
export function stepStage<Schema extends z.ZodObject>(
  contract: MessageContract<Schema>,
  work: z.output<Schema> extends StepRequest ? StepWorkClass<z.output<Schema>> : never,
  { budget = defaultBudget, concurrency }: StepStageOptions,
): StepStage {
  return {
    step: true,
    // A table holds stages of different payloads; the runner gives each handler what its own contract parsed.
    contract: contract as unknown as MessageContract,
    handler: work,
    budget,
    concurrency,
    leaseKey: (message: StepRequest) => stepLeaseKey(message),
  };
}

export function isStepStage(stage: Stage): stage is StepStage {
  return 'step' in stage && stage.step === true;
}
