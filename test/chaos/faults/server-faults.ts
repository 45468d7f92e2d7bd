import { ownServers, type OwnServer, type Way } from '../world/chaos-world.ts';
import type { Fault } from './fault.ts';
import { hold } from './hold.ts';

const shortestMs = 1_000;
const longestMs = 6_000;

/** A server dies; whoever started it starts it again. */
function kill(server: OwnServer): Fault {
  return {
    target: server,
    name: `kill -9 ${server}`,
    strike: async (world) => {
      process.kill(await world.pidOf(server), 'SIGKILL');
    },
  };
}

function cut(server: Way): Fault {
  return {
    target: server,
    name: `cut the connections of ${server}`,
    strike: async (world) => world.ways[server].cut(),
  };
}

function takeAway(server: Way, how: 'refuse' | 'stall', name: string): Fault {
  return {
    target: server,
    name,
    strike: async (world, random, signal) => {
      const forMs = random.between(shortestMs, longestMs);
      world.ways[server][how]();
      try {
        await hold(forMs, signal);
      } finally {
        world.ways[server].heal();
      }
    },
  };
}

const loseAcks: Fault = {
  target: 'acks',
  name: 'lose acknowledgements',
  strike: async ({ acks }, random, signal) => {
    const forMs = random.between(shortestMs, longestMs);
    acks.losing = true;
    await hold(forMs, signal);
    acks.losing = false;
  },
};

export const serverFaults: readonly Fault[] = [
  ...ownServers.map(kill),
  ...[...ownServers, 'remotes' as const].flatMap((server) => [
    cut(server),
    takeAway(server, 'refuse', `${server} refuses connections`),
    takeAway(server, 'stall', `the network swallows what goes to ${server}`),
  ]),
  loseAcks,
];
