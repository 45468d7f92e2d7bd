import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { nothingSpent } from '@flotilla/contracts/allowance';
import { callCatalogue } from '@flotilla/contracts/call-catalogue';
import { stepRequests } from '@flotilla/contracts/catalogue';
import type { MessageContract } from '@flotilla/contracts/define-message';
import { CommitId, TreeId } from '@flotilla/contracts/ids';
import type { Outcome, StepResult } from '@flotilla/contracts/outcome';
import { serviceOfVerb, type Verb } from '@flotilla/contracts/verbs';
import type { ServiceDefinition } from '@flotilla/host/service-definition';
import type { StepRequest } from '@flotilla/host/step-request';
import { stepStage } from '@flotilla/host/step-stage';
import type { StepAnswer, StepWork } from '@flotilla/host/step-work';
import { describeMove } from '@flotilla/router/describe-move';
import { routerService } from '@flotilla/router/router.module';
import { IntakeStore } from '@flotilla/router/store/intake.store';
import { serve } from '@flotilla/stream/calls';
import { compileTopology } from '@flotilla/workflow/compile-topology';

/** The id of six-steps.yaml. */
export const topology = 'six_steps';

/** Steps of one kind that a worker does at once. */
const concurrency = 16;
const workers = ['planner', 'executor', 'merger', 'scribe'] as const;

const results: Partial<Record<Verb, StepResult>> = {
  open: {
    verb: 'open',
    repository: 'bench',
    branch: 'main',
    base: CommitId.parse('a'.repeat(40)),
    tree: TreeId.parse('b'.repeat(40)),
    bundle: 'base',
  },
  setup: { verb: 'setup', key: null, reused: false },
  plan: { verb: 'plan', plan: 'Nothing.' },
  remember: { verb: 'remember', summary: 'Nothing.', memories: 0 },
};

function outcomeOf(verb: Verb): Outcome {
  const result = results[verb];
  return result === undefined ? { kind: 'no_changes', reason: 'Nothing was asked for.' } : { kind: 'done', result };
}

/** Runs whose goal begins so stay in their `open` step until its process ends. */
export const heldStep = createHeldStep('Hold this step.');

function createHeldStep(goal: string) {
  const times = new Map<string, number>();
  const asking = new Map<string, () => void>();
  return {
    goal,
    hold: (runId: string): Promise<never> => {
      times.set(runId, Date.now());
      asking.get(runId)?.();
      return new Promise<never>(() => undefined);
    },
    /** When this process began to work on the step of a run; waits until it does. */
    seen: async (runId: string): Promise<{ readonly runId: string; readonly at: number }> => {
      if (!times.has(runId)) await new Promise<void>((resolve) => asking.set(runId, resolve));
      return { runId, at: times.get(runId) ?? 0 };
    },
  };
}

/** Answers every step at once; lease, inbox, journal, outbox and spans around it are the host's own. */
class NoWork implements StepWork<StepRequest> {
  work(request: StepRequest & { readonly goal?: string }): Promise<StepAnswer> {
    const { verb, runId } = request;
    if (request.goal?.startsWith(heldStep.goal) === true) return heldStep.hold(runId);
    return Promise.resolve({ outcome: outcomeOf(verb), spent: nothingSpent });
  }
}

class WorkerModule {}

function worker(name: (typeof workers)[number]): ServiceDefinition {
  const contracts = Object.entries(stepRequests).flatMap(([verb, contract]) =>
    // A verb of the table; the contracts of verbs are read through what they share.
    serviceOfVerb[verb as Verb] === name ? [contract as unknown as MessageContract] : [],
  );
  return {
    name,
    // NoWork takes what every request has.
    stages: contracts.map((contract) => stepStage(contract, NoWork as never, { concurrency })),
    // Nobody asks in a bench.
    calls: () =>
      callCatalogue
        .filter(({ servedBy, kind }) => servedBy === name && kind !== 'stream')
        .map((call) => serve(call, () => Promise.reject(new Error('a bench answers no calls')))),
    module: () => ({ module: WorkerModule, providers: [{ provide: NoWork, useFactory: () => new NoWork() }] }),
  };
}

/** The router as it is shipped, but for the topologies that runs may follow. */
const router: ServiceDefinition = {
  ...routerService,
  module: async (resources) => {
    const built = await routerService.module(resources);
    if (!('module' in built)) throw new TypeError("the router's module is not a dynamic one");
    const slip = compileTopology(readFileSync(join(import.meta.dirname, 'six-steps.yaml'), 'utf8'));
    const { store, clock, ids, logger } = resources;
    const intake = new IntakeStore({
      store,
      clock,
      newGateId: ids.newGateId,
      newRunId: ids.newRunId,
      slips: new Map([[topology, slip]]),
      sessionMode: 'auto',
      tell: ({ run }) => logger.info(describeMove(run)),
    });
    return { ...built, providers: [...(built.providers ?? []), { provide: IntakeStore, useFactory: () => intake }] };
  },
};

/** Every definition passes its resources to `onResources` as it is started. */
export function noOpServices(
  onResources: (resources: Parameters<ServiceDefinition['module']>[0]) => void,
): readonly ServiceDefinition[] {
  return [router, ...workers.map(worker)].map((definition) => ({
    ...definition,
    module: (resources) => {
      onResources(resources);
      return definition.module(resources);
    },
  }));
}
