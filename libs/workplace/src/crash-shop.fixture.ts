import type { ModelPort } from '@flotilla/agent/ports';
import { judgeAgentStep } from '@flotilla/host/crash-agent-step.fixture';
import {
  openCrashWorld,
  type CrashProcess,
  type CrashWorld,
  type MessageLife,
} from '@flotilla/host/crash-world.fixture';
import type { StepRequest } from '@flotilla/host/step-request';
import type { MortalProcess } from '@flotilla/testing/crash-points/mortal-process';
import type { ScratchFiles } from '@flotilla/testing/scratch-remote';
import type { Script } from '@flotilla/testing/scripted-model/script';
import type { MessageContract } from '@flotilla/contracts/define-message';
import type { z } from 'zod';
import { openShop, type Shop } from './workplace.fixture.ts';
import type { Workplaces } from './workplaces.ts';

/** A shop whose services die: real slots, and everything that an agent's step reaches counts as a call of its process. */
export interface CrashShop extends AsyncDisposable {
  readonly world: CrashWorld;
  readonly shop: Shop;
  /** What a process works with, on the host of those before it. */
  placesOf(process: CrashProcess): Promise<PlacesOfProcess>;
  /** Lives of one message, from an empty world and the bucket as it is now to their end. `begin` comes before each. */
  live<Schema extends z.ZodObject>(
    contract: MessageContract<Schema>,
    request: z.input<Schema> & StepRequest,
    life: MessageLife,
    begin?: () => void,
  ): (mortal: MortalProcess) => Promise<unknown>;
}

export interface PlacesOfProcess {
  readonly workplaces: Pick<Workplaces, 'prepare' | 'openCommits'>;
  readonly bundles: Pick<Shop['bundles'], 'has' | 'put' | 'get'>;
  readonly model: ModelPort;
}

export async function openCrashShop(script: Script, files?: ScratchFiles): Promise<CrashShop> {
  const [world, shop] = await Promise.all([openCrashWorld(), openShop(script, files)]);
  return {
    world,
    shop,
    placesOf: async ({ mortal }) => ({
      workplaces: mortal.wrap('workplaces', await shop.restart(), { opens: { prepare: { parts: { slot: {} } } } }),
      bundles: mortal.wrap('bundles', shop.bundles),
      model: mortal.wrap('model', shop.model, { streams: ['stream'] }),
    }),
    live: (contract, request, life, begin) => {
      const base = [...shop.bundles.names];
      return async (mortal) => {
        begin?.();
        shop.bundles.names.clear();
        for (const [name, bytes] of base) shop.bundles.names.set(name, bytes);
        await world.empty();
        const asked = shop.scripted.requests.length;
        await world.publish(contract, { ...request, deadline: new Date(Date.now() + 3_600_000).toISOString() });
        await world.settle(mortal, life);
        const state = await world.endState();
        const told = JSON.stringify(state.outbox);
        return {
          ...judgeAgentStep(state, mortal, shop.scripted.requests.length - asked),
          // Of checkpoints there may be more after a death; what the answer names is there.
          bundles: [...shop.bundles.names.keys()]
            .map((name) => name.split('/').at(-1) ?? '')
            .filter((commit) => told.includes(commit))
            .sort(),
          containers: shop.containers(),
        };
      };
    },
    async [Symbol.asyncDispose]() {
      await world.close();
      await shop[Symbol.asyncDispose]();
    },
  };
}
