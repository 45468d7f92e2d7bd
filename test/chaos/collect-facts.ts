import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { scratchGit } from '@flotilla/dev/demo/scratch-remote';
import { jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { streams } from '@flotilla/contracts/streams';
import { installationLabel, slotLabel } from '@flotilla/sandbox/slot-labels';
import { Redis } from 'ioredis';
import pg from 'pg';
import type { CampaignFacts, Landing, Leftover, LogFact, RunFact } from './check/campaign-facts.ts';
import { waitUntil } from '../fleet/harness/wait-until.ts';
import type { ChaosWorld } from './world/chaos-world.ts';
import { projectNames, type Workload } from './workload.ts';

/** What of a world is looked at: a fleet on one user of the broker, and the repositories that it lands on. */
export type LookedAt = Pick<ChaosWorld, 'urls' | 'remotesDirectory'>;

/** Reads what a campaign left behind: everything but the sandboxes, once the fleet is quiet and its services still run. */
export async function collectFacts(world: LookedAt, workload: Pick<Workload, 'tasks'>): Promise<CampaignFacts> {
  const database = new pg.Client({ connectionString: world.urls.postgres });
  await database.connect();
  try {
    return {
      tasks: workload.tasks,
      runs: await readRuns(database),
      logs: await readLogs(database),
      landings: (await Promise.all(projectNames.map((name) => readLandings(world, name)))).flat(),
      leftovers: [
        ...(await findRows(database)),
        ...(await findLocks(world)),
        ...(await findMessages(world)),
        ...(await Promise.all(projectNames.map((name) => findBranches(world, name)))).flat(),
      ],
    };
  } finally {
    await database.end();
  }
}

/** Tasks that are no run yet, runs under way, and rows, leases and messages that somebody still has to do with. */
export async function countUnsettled({ urls }: LookedAt, externalKeys: ReadonlySet<string>): Promise<number> {
  const database = new pg.Client({ connectionString: urls.postgres });
  await database.connect();
  try {
    const { rows } = await database.query<{ readonly count: string }>(
      `select $1 - (select count(*) from router.run)
            + (select count(*) from router.run where state <> 'ended')
            + (select count(*) from flow.outbox where published_at is null)
            + (select count(*) from flow.lease where expires_at > clock_timestamp()) as count`,
      [externalKeys.size],
    );
    const messages = await withStreams(urls.nats, async (manager) =>
      Promise.all(
        [streams.TASKS.name, streams.WORK.name].map(async (name) => (await manager.streams.info(name)).state.messages),
      ),
    );
    return Number(rows[0]?.count) + messages.reduce((sum, count) => sum + count, 0);
  } finally {
    await database.end();
  }
}

async function withStreams<Value>(url: string, work: (manager: JetStreamManager) => Promise<Value>): Promise<Value> {
  const { host, username, password } = new URL(url);
  const broker = await connect({ servers: host, user: username, pass: password });
  try {
    return await work(await jetstreamManager(broker));
  } finally {
    await broker.close();
  }
}

const goneWithinMs = 60_000;
const going: readonly string[] = ['dead', 'exited', 'removing'];

/**
 * What a fleet may keep while it runs, ready slots above all, and must not once its services have stopped. Of a container that has ended,
 * only the engine's word is left, which may take its time.
 */
export async function findSandboxes(world: ChaosWorld): Promise<readonly Leftover[]> {
  let left = await lookForSandboxes(world);
  const isSettled = async (): Promise<boolean> => {
    left = await lookForSandboxes(world);
    return left.containers.length === 0 || left.stays;
  };
  // What is left is the answer.
  await waitUntil('the engine has let go of every container', isSettled, goneWithinMs).catch(() => undefined);
  return [...left.containers, ...left.workspaces];
}

async function lookForSandboxes({ docker: { docker }, installation, fleet }: ChaosWorld): Promise<{
  readonly containers: readonly Leftover[];
  readonly workspaces: readonly Leftover[];
  /** Whether any of it is there to stay. */
  readonly stays: boolean;
}> {
  const filters = { label: [`${installationLabel}=${installation}`] };
  const found = await docker.listContainers({ all: true, filters });
  const directory = join(fleet.dataDirectory, 'slots/slots');
  const slots = (await readdir(directory)).filter((name) => !name.startsWith('.'));
  return {
    containers: await Promise.all(
      found.map(async ({ Id, Labels, Status }) => {
        const asked = await docker
          .getContainer(Id)
          .inspect()
          .then(({ State }) => `${State.Status} ${State.Error}`)
          .catch(String);
        return { kind: 'container' as const, name: `${Labels[slotLabel] ?? Id}: listed as ${Status}, is ${asked}` };
      }),
    ),
    workspaces: slots.map((name) => ({ kind: 'workspace' as const, name })),
    stays: slots.length > 0 || found.some(({ State }) => !going.includes(State)),
  };
}

async function readRuns(database: pg.Client): Promise<readonly RunFact[]> {
  const { rows } = await database.query<RunFact>(
    `select id as "runId", external_key as "externalKey", state, result, commit, spent,
            coalesce(code || ' ' || message, step_id) as message
       from router.run order by id`,
  );
  return rows;
}

async function readLogs(database: pg.Client): Promise<ReadonlyMap<string, readonly LogFact[]>> {
  const { rows } = await database.query<LogFact & { readonly run: string }>(
    `select run, sequence, type, step as "stepId", attempt, coalesce(payload, '{}') as payload
       from flow.log order by run, sequence`,
  );
  return Map.groupBy(rows, ({ run }) => run);
}

async function readLandings({ remotesDirectory }: LookedAt, project: string): Promise<readonly Landing[]> {
  const format = '%H %T %(trailers:key=Flotilla-Run,valueonly,separator=%x2C)';
  const remote = join(remotesDirectory, `${project}.git`);
  const lines = (await scratchGit(remote, ['log', '--first-parent', '--reverse', `--format=${format}`, 'main']))
    .split('\n')
    .slice(1);
  return lines.map((line) => {
    const [commit = '', tree = '', run = ''] = line.split(' ');
    return { project, commit, tree, run: run === '' ? undefined : run };
  });
}

async function findBranches({ remotesDirectory }: LookedAt, project: string): Promise<readonly Leftover[]> {
  const remote = join(remotesDirectory, `${project}.git`);
  const refs = (await scratchGit(remote, ['for-each-ref', '--format=%(refname)'])).split('\n');
  return refs.filter((ref) => ref !== 'refs/heads/main').map((ref) => ({ kind: 'branch', name: `${project}: ${ref}` }));
}

async function findRows(database: pg.Client): Promise<readonly Leftover[]> {
  const kinds = {
    lease: `select key || ' of ' || holder as name from flow.lease where expires_at > clock_timestamp()`,
    'outbox row': 'select message_id as name from flow.outbox where published_at is null',
    'open gate': `select id as name from router.gate where state = 'open'`,
    turn: 'select key as name from router.lane where run_id is not null',
  } as const;
  const found: Leftover[] = [];
  for (const [kind, query] of Object.entries(kinds)) {
    const { rows } = await database.query<{ readonly name: string }>(query);
    // The keys are those of the object above.
    found.push(...rows.map(({ name }) => ({ kind: kind as keyof typeof kinds, name })));
  }
  return found;
}

async function findLocks({ urls }: LookedAt): Promise<readonly Leftover[]> {
  const redis = new Redis(urls.redis);
  try {
    return (await redis.keys('*')).map((name) => ({ kind: 'lock', name }));
  } finally {
    redis.disconnect();
  }
}

/** Work that nobody did, dead letters, and consumers that are not one of the fleet's durable ones. */
function findMessages({ urls }: LookedAt): Promise<readonly Leftover[]> {
  return withStreams(urls.nats, async (manager) => {
    const found: Leftover[] = [];
    for (const name of [streams.TASKS.name, streams.WORK.name, streams.DEAD.name]) {
      const { state } = await manager.streams.info(name, { subjects_filter: '>' });
      for (const [subject, count] of Object.entries(state.subjects ?? {}))
        found.push({ kind: 'message', name: `${count} of ${subject} in ${name}` });
      for await (const { name: consumer, config } of manager.consumers.list(name))
        if (config.durable_name === undefined) found.push({ kind: 'consumer', name: `${consumer} of ${name}` });
    }
    return found;
  });
}
