import { randomUUID } from 'node:crypto';
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import type { Contestant, ContestantSettings } from '../contestant.ts';

const steps = 6;

/** A chain of six BullMQ queues on the same Redis, which syncs once a second: a power cut may lose that second. */
export async function open({ redisUrl }: ContestantSettings): Promise<Contestant> {
  const connection = new Redis(redisUrl, { maxRetriesPerRequest: null });
  const ended = new Map<string, (nothing: undefined) => void>();
  const queues = Array.from({ length: steps }, (_, step) => new Queue(`bench-${step}`, { connection }));
  const workers = queues.map(
    (queue, step) =>
      new Worker<{ readonly run: string }>(
        queue.name,
        async ({ data }) => {
          const next = queues[step + 1];
          if (next === undefined) ended.get(data.run)?.(undefined);
          else await next.add('step', data, { removeOnComplete: true });
        },
        { connection: connection.duplicate(), concurrency: 16 },
      ),
  );
  await Promise.all(workers.map((worker) => worker.waitUntilReady()));
  return {
    runOnce: async () => {
      const run = randomUUID();
      const end = Promise.withResolvers<undefined>();
      ended.set(run, end.resolve);
      await queues[0]?.add('step', { run }, { removeOnComplete: true });
      await end.promise;
      ended.delete(run);
    },
    close: async () => {
      await Promise.all(workers.map((worker) => worker.close()));
      await Promise.all(queues.map((queue) => queue.close()));
      connection.disconnect();
    },
  };
}
