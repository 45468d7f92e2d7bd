import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startChild } from './child.ts';
import { type Bench, measureOf, ratioOf } from './harness.ts';
import type { StepSeen } from './recovery-process.ts';

const leaseSeconds = 15;

export const recovery: Bench = {
  name: 'recovery',
  summary: 'from kill -9 of the process that works on a step to another going on with it',
  run: async ({ quick, servers, directory, say }) => {
    const rounds = quick ? 1 : 5;
    const environment = {
      DATABASE_URL: servers.postgres.url,
      NATS_URL: servers.nats.url,
      REDIS_URL: servers.redis.url,
      FLOTILLA_DATA_DIRECTORY: directory,
      FLOTILLA_SANDBOX_IMAGE: 'none',
      FLOTILLA_LOG_FORMAT: 'json',
    };
    const begin = async (name: string) => {
      const child = startChild('recovery-process.ts', [], { logFile: join(directory, `${name}.log`) });
      await child.ask(environment);
      return child;
    };
    const seconds: number[] = [];
    let working = await begin('first');
    for (let round = 0; round < rounds; round += 1) {
      say(`round ${round + 1} of ${rounds}`);
      const { runId } = await working.ask<StepSeen>({ submit: true });
      const standby = await begin(`standby-${round}`);
      // The step may be anywhere between two signs of life when its process dies.
      await delay(round * 1_000);
      const killedAt = Date.now();
      await working.kill();
      const seen = await standby.ask<StepSeen>({ runId });
      seconds.push((seen.at - killedAt) / 1_000);
      working = standby;
    }
    await working.close();
    return {
      measures: [measureOf('until the step goes on', 's', seconds)],
      ratios: [
        ratioOf(
          'seconds over the lease',
          seconds.map((time) => [time, leaseSeconds]),
          { atMost: 1.5 },
        ),
      ],
      notes: [`a lease lasts ${leaseSeconds} s and is renewed every 5 s; another process stands by`],
    };
  },
};
