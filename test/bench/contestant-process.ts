import { answerParent } from './child.ts';
import type { Contestant, ContestantSettings, Load, LoadResult, Open } from './contestant.ts';
import { inFlight, timed } from './harness.ts';

/** The process of one contestant: opened by its first message, then a load for each message. */
const [name = ''] = process.argv.slice(2);
const openers: Readonly<Record<string, () => Promise<Open>>> = {
  flotilla: async () => (await import('./contestants/flotilla.ts')).open,
  dbos: async () => (await import('./contestants/dbos.ts')).open,
  bullmq: async () => (await import('./contestants/bullmq.ts')).open,
  jetstream: async () => (await import('./contestants/jetstream.ts')).open,
};
const open = await openers[name]?.();
if (open === undefined) throw new Error(`no such contestant: ${name}`);
let contestant: Contestant | undefined;

answerParent(
  async (question) => {
    if (contestant !== undefined) return bear(contestant, question as Load);
    contestant = await open(question as ContestantSettings);
    return {};
  },
  async () => contestant?.close(),
);

async function bear(system: Contestant, { runs, atOnce }: Load): Promise<LoadResult> {
  const before = await system.counters?.();
  const cpu = process.cpuUsage();
  const latenciesMs: number[] = [];
  const elapsed = await timed(() =>
    inFlight(runs, atOnce, async () => void latenciesMs.push(await timed(() => system.runOnce()))),
  );
  const { user, system: kernel } = process.cpuUsage(cpu);
  const after = await system.counters?.();
  const counted = Object.fromEntries(
    Object.entries(after ?? {}).map(([counter, value]) => [counter, value - (before?.[counter] ?? 0)]),
  );
  return { seconds: elapsed / 1_000, cpuSeconds: (user + kernel) / 1_000_000, latenciesMs, counted };
}
