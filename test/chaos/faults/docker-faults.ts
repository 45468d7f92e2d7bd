import type { Fault } from './fault.ts';
import { hold } from './hold.ts';

const restart: Fault = {
  target: 'docker',
  name: 'kill -9 dockerd and its containers',
  strike: async ({ docker }, random, signal) => {
    const awayMs = random.between(0, 3_000);
    await docker.kill();
    await hold(awayMs, signal);
    await docker.start();
  },
};

const freeze: Fault = {
  target: 'docker',
  name: 'dockerd stands still',
  strike: async ({ docker }, random, signal) => {
    const forMs = random.between(1_000, 8_000);
    const { pid } = docker;
    process.kill(pid, 'SIGSTOP');
    try {
      await hold(forMs, signal);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
  },
};

export const dockerFaults: readonly Fault[] = [restart, freeze];
