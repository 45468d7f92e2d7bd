import type { PurgeOpts } from '@nats-io/jetstream';
import { Objm, type ObjectInfo } from '@nats-io/obj';
import type { BucketName } from '@flotilla/contracts/streams';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import type { Broker } from './connect-broker.ts';
import { translating } from './translate-error.ts';

/** Objects by name. A name stands for its content: putting it again keeps what is there. */
export interface Bucket {
  has(name: string): Promise<boolean>;
  put(name: string, bytes: Uint8Array): Promise<void>;
  /** Stores it anew, so that it is young. */
  renew(name: string, bytes: Uint8Array): Promise<void>;
  /** Throws OBJECT_MISSING. */
  get(name: string): Promise<Uint8Array>;
  /** Leaves nothing, not even that it was there. Safe to repeat. */
  delete(name: string): Promise<void>;
  /** The same, unless it was stored anew meanwhile. True where it went. */
  deleteUnchanged(object: StoredObject): Promise<boolean>;
  list(prefix: string): Promise<readonly string[]>;
  /** Everything there is, in one reading of the bucket. */
  listObjects(): Promise<readonly StoredObject[]>;
  find(name: string): Promise<StoredObject | undefined>;
}

export interface StoredObject {
  readonly name: string;
  /** By the clock of whoever stored it. */
  readonly storedAt: Date;
}

const transferTimeoutMs = 30_000;

/** Opens a bucket that `provisionStreams` created. */
export async function openBucket(broker: Broker, bucket: BucketName): Promise<Bucket> {
  const store = await translating(() => new Objm(broker.js).open(bucket, { check: true }));
  const has = async (name: string): Promise<boolean> => {
    const info = await translating(() => store.info(name));
    return info !== null && !info.deleted;
  };
  /**
   * The library would leave a message that the object was deleted, for ever. The bytes go first: a crash leaves a name whose removal is
   * repeated. They are of one revision, and the name goes up to that one, so that what is stored anew meanwhile stays whole.
   */
  const remove = async ({ name, nuid, revision }: ObjectInfo): Promise<boolean> => {
    const purge = (options: PurgeOpts) => translating(() => broker.jsm.streams.purge(`OBJ_${bucket}`, options));
    await purge({ filter: `$O.${bucket}.C.${nuid}` });
    const { purged } = await purge({ filter: `$O.${bucket}.M.${encodeName(name)}`, seq: revision + 1 });
    return purged > 0;
  };
  return {
    has,
    put: async (name, bytes) => {
      if (await has(name)) return;
      await translating(() => store.putBlob({ name }, bytes, { timeout: transferTimeoutMs }));
    },
    get: async (name) => {
      const bytes = await translating(() => store.getBlob(name));
      if (bytes === null) throw new FlotillaError(errors.objectMissing, { bucket, name });
      return bytes;
    },
    renew: async (name, bytes) => {
      await translating(() => store.putBlob({ name }, bytes, { timeout: transferTimeoutMs }));
    },
    delete: async (name) => {
      const info = await translating(() => store.info(name));
      if (info !== null) await remove(info);
    },
    deleteUnchanged: async ({ name, storedAt }) => {
      const info = await translating(() => store.info(name));
      return info !== null && Date.parse(info.mtime) === storedAt.getTime() && remove(info);
    },
    list: async (prefix) => {
      const objects = await translating(() => store.list());
      return objects.filter(({ name, deleted }) => !deleted && name.startsWith(prefix)).map(({ name }) => name);
    },
    listObjects: async () => (await translating(() => store.list())).filter(({ deleted }) => !deleted).map(describe),
    find: async (name) => {
      const info = await translating(() => store.info(name));
      return info === null || info.deleted ? undefined : describe(info);
    },
  };
}

/** As the library writes names of ASCII in subjects: base64 for URLs, padded. */
function encodeName(name: string): string {
  return Buffer.from(name).toString('base64').replaceAll('+', '-').replaceAll('/', '_');
}

function describe({ name, mtime }: ObjectInfo): StoredObject {
  return { name, storedAt: new Date(mtime) };
}
