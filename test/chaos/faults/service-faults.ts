import { ACK_WAIT_MS } from '@flotilla/contracts/streams';
import { serviceNames, type ServiceName } from '@flotilla/contracts/services';
import type { ChaosWorld } from '../world/chaos-world.ts';
import type { Fault } from './fault.ts';
import { hold } from './hold.ts';

/** A service dies in the middle of whatever it does, and comes back after up to three seconds. */
function kill(service: ServiceName): Fault {
  return {
    target: service,
    name: `kill -9 ${service}`,
    strike: async (world, random, signal) => {
      const process = processOf(world, service);
      const awayMs = random.between(0, 3_000);
      await process.kill();
      await hold(awayMs, signal);
      process.start();
    },
  };
}

/** A service stands still for longer than its leases last, and goes on as if nothing had been. */
function freeze(service: ServiceName): Fault {
  return {
    target: service,
    name: `freeze ${service} beyond its leases`,
    strike: async (world, random, signal) => {
      const { pid } = processOf(world, service);
      const awayMs = ACK_WAIT_MS + random.between(1_000, 6_000);
      if (pid === undefined) return;
      process.kill(pid, 'SIGSTOP');
      try {
        await hold(awayMs, signal);
      } finally {
        process.kill(pid, 'SIGCONT');
      }
    },
  };
}

function processOf({ fleet }: ChaosWorld, service: ServiceName) {
  const process = fleet.services.processes.get(service);
  if (process === undefined) throw new Error(`there is no process of ${service}`);
  return process;
}

export const serviceFaults: readonly Fault[] = serviceNames.flatMap((service) => [kill(service), freeze(service)]);
