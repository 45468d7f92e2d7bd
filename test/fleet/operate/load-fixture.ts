import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import type { RunId } from '@flotilla/contracts/ids';
import { scratchGit } from '@flotilla/dev/demo/scratch-remote';
import { connectBroker } from '@flotilla/stream/connect-broker';
import { toNatsHeaders } from '@flotilla/stream/publish-message';
import { Objm } from '@nats-io/obj';
import pg from 'pg';
import type { OwnServers } from '../harness/own-servers.ts';

/**
 * What a fleet of an earlier commit left when all its processes were killed at one moment: a dump of its database, its buckets, what lay
 * in its streams, its remotes. Paths of remotes begin with `@REMOTES@`.
 */
interface Fixture {
  readonly commit: string;
  /** When it was taken. */
  readonly at: string;
  /** By what they were doing. */
  readonly runs: Readonly<Record<string, RunId>>;
  readonly sql: string;
  /** Bytes as base64, by bucket and name. */
  readonly objects: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly messages: readonly {
    readonly stream: string;
    readonly subject: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly payload: string;
  }[];
  /** Bundles of the remotes' branches as base64, by name. */
  readonly bundles: Readonly<Record<string, string>>;
}

export interface LoadedFixture {
  readonly runs: Fixture['runs'];
  readonly subjects: readonly string[];
  readonly remoteOf: (name: string) => string;
}

/** Puts a fleet that was left into empty servers, as if it had been left now. */
export async function loadFixture(file: string, servers: OwnServers, directory: string): Promise<LoadedFixture> {
  const bytes = await readFile(fileURLToPath(new URL(`fixtures/${file}`, import.meta.url)));
  const remotes = join(directory, 'remotes');
  const text = gunzipSync(bytes).toString().replaceAll('@REMOTES@', remotes);
  const { at } = JSON.parse(text) as Fixture;
  // Written by the fixture's maker, whose shape this is.
  const fixture = JSON.parse(moveTimes(text, Date.now() - Date.parse(at))) as Fixture;
  await mkdir(remotes, { recursive: true });
  for (const [name, bundle] of Object.entries(fixture.bundles)) {
    await writeFile(join(remotes, `${name}.bundle`), Buffer.from(bundle, 'base64'));
    await scratchGit(remotes, ['clone', '--quiet', '--bare', `${name}.bundle`, `${name}.git`]);
  }
  await loadDatabase(servers.addresses.DATABASE_URL, fixture.sql);
  await loadBroker(servers.addresses.NATS_URL, fixture);
  return {
    runs: fixture.runs,
    subjects: fixture.messages.map(({ subject }) => subject),
    remoteOf: (name) => join(remotes, `${name}.git`),
  };
}

/** Deadlines and pauses are counted from when the fleet was left. Times stand as Postgres and as JSON write them. */
function moveTimes(text: string, byMs: number): string {
  return text.replace(
    /(\d{4}-\d\d-\d\d)([ T])(\d\d:\d\d:\d\d)(\.\d+)?(\+00|Z)/g,
    (_, day: string, between: string, time: string, fraction = '', zone: string) => {
      const moved = new Date(Date.parse(`${day}T${time}Z`) + byMs).toISOString();
      return `${moved.slice(0, 10)}${between}${moved.slice(11, 19)}${fraction}${zone}`;
    },
  );
}

async function loadDatabase(connectionString: string, sql: string): Promise<void> {
  const database = new pg.Client({ connectionString });
  await database.connect();
  try {
    // Lines of the dump that only psql understands.
    await database.query(sql.replace(/^\\.*$/gm, ''));
  } finally {
    await database.end();
  }
}

/** Streams as that commit made them: without the limits that came later. */
async function loadBroker(url: string, { objects, messages }: Fixture): Promise<void> {
  const broker = await connectBroker({ url, name: 'fixture' });
  try {
    const twoMinutes = 120_000_000_000;
    const add = (name: string, retention: 'workqueue' | 'limits', ...subjects: readonly string[]) =>
      broker.jsm.streams.add({ name, retention, subjects: [...subjects], duplicate_window: twoMinutes });
    await add('TASKS', 'workqueue', 'flotilla.tasks.submitted', 'flotilla.tasks.submitted.*');
    await add('WORK', 'workqueue', 'flotilla.step.requested.*.*', 'flotilla.step.completed', 'flotilla.step.asked');
    await add('EVENTS', 'limits', 'flotilla.events.*');
    await add('DEAD', 'limits', 'flotilla.dead.*');
    for (const [bucket, contents] of Object.entries(objects)) {
      const store = await new Objm(broker.js).create(bucket);
      for (const [name, bytes] of Object.entries(contents)) await store.putBlob({ name }, Buffer.from(bytes, 'base64'));
    }
    for (const { subject, headers, payload } of messages)
      await broker.js.publish(subject, payload, { headers: toNatsHeaders(headers) });
  } finally {
    await broker.close();
  }
}
