import { reportWhile, type Report } from '@flotilla/dev/report';
import { waitUntil } from '../fleet/harness/wait-until.ts';
import type { RunFact, Violation } from './check/campaign-facts.ts';
import { checkCampaign } from './check/check-campaign.ts';
import { collectFacts, countUnsettled, findSandboxes } from './collect-facts.ts';
import { driveWorkload } from './drive-workload.ts';
import type { Fault } from './faults/fault.ts';
import { faults, strikeAtRandom, type Struck } from './faults/strike-at-random.ts';
import { createRandom } from './random.ts';
import { openChaosWorld, type ChaosWorld } from './world/chaos-world.ts';
import { makeRemotes, planWorkload, type Workload } from './workload.ts';

export interface CampaignOptions {
  readonly seed: number;
  readonly seconds: number;
  readonly tasks: number;
  /** Faults whose name contains one of these; all where there are none. */
  readonly only: readonly string[];
  readonly report: Report;
  readonly signal: AbortSignal;
}

export interface CampaignReport {
  readonly seed: number;
  readonly seconds: number;
  readonly struck: readonly Struck[];
  /** Runs by how they ended. */
  readonly results: Readonly<Record<string, number>>;
  readonly acksLost: number;
  /** From the last fault put right until everything was quiet. */
  readonly quietAfterSeconds: number;
  readonly violations: readonly Violation[];
}

const quietWithinMs = 600_000;

/** Runs a workload under faults, waits until all is quiet, and holds what is left against what is promised. */
export async function runCampaign(options: CampaignOptions): Promise<CampaignReport> {
  const { seed, seconds, report } = options;
  const random = createRandom(seed);
  const workload = planWorkload(options.tasks, random.fork());
  const givenUp = new AbortController();
  const signal = AbortSignal.any([options.signal, givenUp.signal]);
  const giveUp = (error: unknown): void => givenUp.abort(error);
  const world = await openChaosWorld({ script: workload.script, report, signal, onGivenUp: giveUp });
  const over = new AbortController();
  try {
    await makeRemotes(world.remotesDirectory, workload);
    const driving = driveWorkload({
      client: world.client,
      brokerUrl: world.urls.nats,
      workload,
      remoteOf: (project) => `http://127.0.0.1:${world.ways.remotes.port}/${project}.git`,
      random: random.fork(),
      signal: AbortSignal.any([signal, over.signal]),
    }).catch((error: unknown) => over.signal.aborted || giveUp(error));
    const struck = await strikeAtRandom(world, {
      random: random.fork(),
      seconds,
      chosen: chooseFaults(options.only),
      signal,
      onStrike: ({ name }) => report.say('fault', name),
    });
    signal.throwIfAborted();
    const quietAfterSeconds = await reportWhile(report, 'quiet', 'waiting until every task has ended', () =>
      waitUntilQuiet(world, workload, { report, signal }),
    );
    over.abort();
    await driving;
    const facts = await collectFacts(world, workload);
    await world.fleet.stop();
    const leftovers = [...facts.leftovers, ...(await findSandboxes(world))];
    const violations = checkCampaign({ ...facts, leftovers });
    return {
      seed,
      seconds,
      struck,
      results: countResults(facts.runs),
      acksLost: world.acks.lost,
      quietAfterSeconds,
      violations,
    };
  } finally {
    over.abort();
    await world.close();
  }
}

function chooseFaults(only: readonly string[]): readonly [Fault, ...Fault[]] {
  const [first, ...rest] = faults.filter(({ name }) => only.length === 0 || only.some((word) => name.includes(word)));
  if (first === undefined) throw new Error(`no fault has ${only.join(' or ')} in its name`);
  return [first, ...rest];
}

/** Seconds until every task is a run that has ended, nothing is under way and the broker has nothing left; at most ten minutes. */
async function waitUntilQuiet(
  world: ChaosWorld,
  { tasks }: Workload,
  { report, signal }: Pick<CampaignOptions, 'report' | 'signal'>,
): Promise<number> {
  const began = performance.now();
  const keys = new Set(tasks.map(({ externalKey }) => externalKey));
  let unasked: unknown;
  const isQuiet = async (): Promise<boolean> => {
    signal.throwIfAborted();
    try {
      return (await countUnsettled(world, keys)) === 0;
    } catch (error) {
      // A server that was ended last is still on its way back.
      unasked = error;
      return false;
    }
  };
  await waitUntil('all is quiet', isQuiet, quietWithinMs).catch((error: unknown) => {
    signal.throwIfAborted();
    // What is not quiet is what the check will name.
    report.warn('quiet', unasked === undefined ? String(error) : `${String(error)}; last: ${String(unasked)}`);
  });
  return Math.round((performance.now() - began) / 100) / 10;
}

function countResults(runs: readonly RunFact[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { result, state } of runs) counts[result ?? state] = (counts[result ?? state] ?? 0) + 1;
  return counts;
}
