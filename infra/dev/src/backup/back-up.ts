import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inboxPrefixOf, LOCAL_USER } from '@flotilla/contracts/principals';
import { buckets, type BucketName } from '@flotilla/contracts/streams';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { jetstream, StorageType } from '@nats-io/jetstream';
import { Objm, type ObjectStore } from '@nats-io/obj';
import { connect } from '@nats-io/transport-node';
import { findCommand } from '../find-command.ts';
import { findPrograms } from '../servers/programs.ts';
import { lastWords, runCommand } from '../run-command.ts';

export interface BackupOptions {
  /** Where the backup lies, one directory for each. */
  readonly directory: string;
  readonly databaseUrl: string;
  /** Of a user who may read the buckets; to restore, who may make them. */
  readonly natsUrl: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export interface BackedUp {
  readonly objects: number;
}

const databaseFile = 'database.dump';

/**
 * Copies the database and then the buckets of a fleet that may run meanwhile. In this order: an object is stored before the row that
 * names it is committed and is never changed, so every object that the copied rows name is found afterwards. The other way round
 * the rows would name objects that came too late to be copied. Throws BACKUP_FAILED; a directory that was begun is then not a backup.
 */
export async function backUp(options: BackupOptions): Promise<BackedUp> {
  const { directory, databaseUrl, environment } = options;
  await mkdir(directory, { mode: 0o700 });
  const file = join(directory, databaseFile);
  await run('pg_dump', ['--format=custom', '--no-owner', '--no-privileges', '--file', file, databaseUrl], environment);
  const index: Record<string, Record<string, string>> = {};
  await withBuckets(options, async (objects) => {
    for (const bucket of buckets) index[bucket] = await saveBucket(await objects.open(bucket), bucket, directory);
  });
  // Last, so that a directory without it is a backup that did not end.
  await writeFile(join(directory, 'objects.json'), JSON.stringify(index, null, 2), { mode: 0o600 });
  return { objects: Object.values(index).reduce((sum, names) => sum + Object.keys(names).length, 0) };
}

/**
 * Brings a backup into an empty database and an empty broker, before any service of the fleet is started: a service would work on
 * rows whose objects are not there yet. Safe to repeat as long as the database is empty. Throws BACKUP_FAILED.
 */
export async function restore(options: BackupOptions): Promise<BackedUp> {
  const { directory, databaseUrl, environment } = options;
  // Written by `backUp`.
  const index = JSON.parse(await readFile(join(directory, 'objects.json'), 'utf8')) as Record<
    BucketName,
    Record<string, string>
  >;
  let objects = 0;
  await withBuckets(options, async (manager) => {
    for (const bucket of buckets) {
      const store = await manager.create(bucket, { storage: StorageType.File });
      for (const [name, file] of Object.entries(index[bucket])) {
        await store.putBlob({ name }, await readFile(join(directory, file)));
        objects += 1;
      }
    }
  });
  const dump = join(directory, databaseFile);
  const args = [
    '--no-owner',
    '--no-privileges',
    '--exit-on-error',
    '--single-transaction',
    '--dbname',
    databaseUrl,
    dump,
  ];
  await run('pg_restore', args, environment);
  return { objects };
}

async function saveBucket(store: ObjectStore, bucket: BucketName, directory: string): Promise<Record<string, string>> {
  await mkdir(join(directory, bucket), { mode: 0o700 });
  const names: Record<string, string> = {};
  const stored = (await store.list()).filter(({ deleted }) => !deleted);
  for (const [place, { name }] of stored.entries()) {
    const bytes = await store.getBlob(name);
    // Archiving takes away what a run that is over does not need; that may be while we copy.
    if (bytes === null) continue;
    // The name of an object holds slashes, and may be longer than one of a file.
    const file = join(bucket, String(place + 1));
    await writeFile(join(directory, file), bytes, { mode: 0o600 });
    names[name] = file;
  }
  return names;
}

async function withBuckets({ natsUrl }: BackupOptions, work: (objects: Objm) => Promise<void>): Promise<void> {
  const { host, username, password } = new URL(natsUrl);
  const user = username === '' ? {} : { user: decodeURIComponent(username), pass: decodeURIComponent(password) };
  const connection = await connect({ servers: host, ...user, inboxPrefix: inboxPrefixOf(username || LOCAL_USER) });
  try {
    await work(new Objm(jetstream(connection)));
  } finally {
    await connection.close();
  }
}

/** The newest of the machine's, since a dump is made by a program that is not older than the server. */
async function run(name: string, args: readonly string[], environment: BackupOptions['environment']): Promise<void> {
  const [server] = await findPrograms('postgres', environment);
  const program = await findCommand(name, { PATH: server?.directory ?? '' }).then((found) => found ?? name);
  const result = await runCommand(program, args, { environment });
  if (result.code !== 0) throw new FlotillaError(errors.backupFailed, { program: name, reason: lastWords(result, 4) });
}
