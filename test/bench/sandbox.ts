import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { ensureDockerEngine } from '@flotilla/dev/docker-engine';
import { silentReport } from '@flotilla/dev/report';
import { ensureSandboxImage } from '@flotilla/dev/sandbox-image';
import { connectDocker } from '@flotilla/sandbox/docker-engine';
import { sandboxUserFor } from '@flotilla/sandbox/sandbox-user';
import { createSlotPool, type SlotPool } from '@flotilla/sandbox/slot-pool';
import { type Bench, type BenchContext, measureOf, ratioOf, timed } from './harness.ts';

export const sandbox: Bench = {
  name: 'sandbox',
  summary: 'a ready slot claimed and its first command, against a container created and started',
  run: async (context) => {
    const [warm, cold] = [await openPool(context, 1), await openPool(context, 0)];
    const times = { claim: [] as number[], command: [] as number[], cold: [] as number[], coldCommand: [] as number[] };
    const rounds: [number, number][] = [];
    try {
      for (let round = 0; round < (context.quick ? 5 : 20); round += 1) {
        while (warm.readyCount() === 0) await delay(20);
        const ready = await useOnce(warm, round);
        const fresh = await useOnce(cold, round);
        times.claim.push(ready.claimMs);
        times.command.push(ready.commandMs);
        times.cold.push(fresh.claimMs);
        times.coldCommand.push(fresh.commandMs);
        rounds.push([ready.claimMs + ready.commandMs, fresh.claimMs]);
      }
    } finally {
      await Promise.all([warm.close(), cold.close()]);
    }
    return {
      measures: [
        measureOf('claim of a ready slot', 'ms', times.claim),
        measureOf('first command in it', 'ms', times.command),
        measureOf('create and start', 'ms', times.cold),
        measureOf('first command after that', 'ms', times.coldCommand),
      ],
      ratios: [
        ratioOf('warm claim and first command over cold create and start', rounds, { atMost: 0.1 }),
        ratioOf(
          'warm claim over cold create and start',
          times.claim.map((ms, round) => [ms, times.cold[round] ?? 0]),
        ),
      ],
      notes: [
        'the first command is `true`, with the sweep of its processes after it; a process waits for it in the ready slot',
      ],
    };
  },
};

async function openPool(context: BenchContext, ready: number): Promise<SlotPool> {
  const { environment, signal, directory } = context;
  const engine = await ensureDockerEngine({ report: silentReport, signal, environment });
  const { image } = await ensureSandboxImage({ report: silentReport, signal, docker: engine.docker });
  const newId = () => randomBytes(6).toString('hex');
  return createSlotPool({
    engine: connectDocker(engine.at),
    directory: `${directory}/slots-${ready}`,
    installation: `bench-${newId()}`,
    image,
    limit: 2,
    ready,
    user: sandboxUserFor({ uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }),
    newId,
    now: () => performance.now(),
  });
}

async function useOnce(pool: SlotPool, attempt: number) {
  const began = performance.now();
  const slot = await pool.claim({ run: 'bench', step: 'build', attempt: attempt + 1 });
  const claimMs = performance.now() - began;
  try {
    const commandMs = await timed(() => slot.run({ argv: ['true'] }));
    return { claimMs, commandMs };
  } finally {
    await slot.destroy();
  }
}
