import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compileTopology } from '@flotilla/workflow/compile-topology';
import pg from 'pg';
import { topology } from './contestants/no-op-services.ts';

const project = { name: 'bench', remote: '/srv/bench.git', topology, checks: [], setup: [] };
const spent = { turns: 12, calls: 31, tokens: 48_211, microdollars: 91_404, seconds: 212.4 };
const bench = import.meta.dirname;

/** Log entries, messages and deliveries that a run of six steps leaves: what `pipeline` counts, with the payloads of a real one. */
const entriesOfRun = 40;
const messagesOfRun = 26;
const deliveriesOfRun = 13;

/** The n-th id of history: it sorts before the ids of runs that are made now. */
const idOf = (place: string): string => `'run_0' || lpad(${place}::text, 25, '0')`;

async function connected<T>(databaseUrl: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** A run that watchers may ask for and that nobody works on. Needs the router's schema. */
export function insertOpenRun(databaseUrl: string): Promise<string> {
  return connected(databaseUrl, async (client) => {
    await insertProject(client);
    const runId = `run_1${'0'.repeat(25)}`;
    await insertRuns(client, 0, 0, 'running', runId);
    return runId;
  });
}

/** Puts so many finished runs into an empty database, with all that they leave in every table. Needs the router's schema. */
export function fillHistory(databaseUrl: string, count: number): Promise<void> {
  return connected(databaseUrl, async (client) => {
    await insertProject(client);
    const step = 10_000;
    for (let from = 0; from < count; from += step) {
      const to = Math.min(count, from + step);
      await insertRuns(client, from + 1, to, 'ended');
      await insertTraces(client, from + 1, to);
    }
    await client.query('vacuum analyze');
  });
}

async function insertProject(client: pg.Client): Promise<void> {
  await client.query(
    `insert into router.project (name, definition, created_at) values ('bench', $1, now()) on conflict (name) do nothing`,
    [JSON.stringify(project)],
  );
}

async function insertRuns(
  client: pg.Client,
  from: number,
  to: number,
  state: 'running' | 'ended',
  runId?: string,
): Promise<void> {
  const slip = compileTopology(readFileSync(join(bench, 'contestants/six-steps.yaml'), 'utf8'));
  const facts = {
    goal: 'Make slugify keep digits, as the tests of the package expect. '.repeat(4),
    project,
    setup: true,
    mode: 'normal',
    principal: 'local',
    visits: { open: 1, setup: 1, plan: 1, resetup: 1, build: 1, remember: 1 },
    spent,
    holdsTurn: false,
    known: { repository: 'bench', branch: 'main', plan: 'Read, change, test. '.repeat(60), feedback: [], evidence: [] },
  };
  const ended = state === 'ended';
  await client.query(
    `insert into router.run (id, project, fingerprint, retries, goal, topology, mode, principal, state, step_id, attempt,
                             requested_at, requests, deadline_at, result, budget, spent, facts, slip, created_at, ended_at)
     select ${runId === undefined ? idOf('n') : '$1'}, 'bench', md5(n::text), 0, 'Make slugify keep digits.', '${topology}', 'normal',
            'local', '${state}', ${ended ? 'null, null, null' : "'open', 1, now() + interval '1 day'"}, 0, now() + interval '1 day',
            ${ended ? "'no_changes'" : 'null'}, $2, $3, $4, $5, now() - interval '1 day', ${ended ? "now() - interval '1 hour'" : 'null'}
       from generate_series($6::integer, $7::integer) as n
      where $1::text is null or n = 0`,
    [runId ?? null, ...[slip.budget, spent, facts, slip].map((value) => JSON.stringify(value)), from, to],
  );
}

async function insertTraces(client: pg.Client, from: number, to: number): Promise<void> {
  const range = [from, to];
  const runs = `generate_series($1::integer, $2::integer) as n`;
  await client.query(`insert into flow.cursor (run, last) select ${idOf('n')}, ${entriesOfRun} from ${runs}`, range);
  await client.query(
    `insert into flow.log (run, sequence, step, attempt, type, payload, traceparent, at)
     select ${idOf('n')}, s, 'build', 1,
            case s when 1 then 'task.accepted' when ${entriesOfRun} then 'run.ended' else 'tool.ended' end,
            json_build_object('callId', md5(s::text), 'output', repeat(md5((n + s)::text), 12)),
            '00-' || md5(n::text) || '-0000000000000001-01', now() - interval '1 day'
       from ${runs}, generate_series(1, ${entriesOfRun}) as s`,
    range,
  );
  await client.query(
    `insert into flow.outbox (message_id, subject, payload, headers, cause, created_at, published_at)
     select ${idOf('n')} || '/' || m, 'flotilla.events.' || ${idOf('n')}, repeat(md5((n + m)::text), 20), '{}',
            ${idOf('n')} || '/cause/' || m, now() - interval '1 day', now() - interval '1 day'
       from ${runs}, generate_series(1, ${messagesOfRun}) as m`,
    range,
  );
  await client.query(
    `insert into flow.inbox (message_id, stage, deliveries, last_delivery_at, handled_at)
     select ${idOf('n')} || '/' || d, 'StepCompleted', 1, now() - interval '1 day', now() - interval '1 day'
       from ${runs}, generate_series(1, ${deliveriesOfRun}) as d`,
    range,
  );
}
