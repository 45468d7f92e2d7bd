import type { Contestant, ContestantSettings, Load, LoadResult, Open } from './contestant.ts';
import { inFlight, timed } from './harness.ts';

/** The process of one contestant: opened by its first message, then a load for each message, closed when the parent lets go. */
const [name] = process.argv.slice(2);
const { open } = (await import(`./contestants/${name}.ts`)) as { readonly open: Open };
let contestant: Contestant | undefined;

process.on('message', (message: ContestantSettings | Load) => {
  void answer(message).then(
    (reply) => process.send?.(reply),
    (error: unknown) => {
      process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
      process.exit(1);
    },
  );
});
process.on('disconnect', () => {
  void (contestant?.close() ?? Promise.resolve()).finally(() => process.exit(0));
});

async function answer(message: ContestantSettings | Load): Promise<object> {
  if ('databaseUrl' in message) {
    contestant = await open(message);
    return { kind: 'ready' };
  }
  if (contestant === undefined) throw new Error('a load before the settings');
  return { kind: 'done', ...(await bear(contestant, message)) };
}

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
