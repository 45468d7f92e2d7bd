import { Objm } from '@nats-io/obj';
import type { BucketName } from '@flotilla/contracts/streams';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import type { Broker } from './connect-broker.ts';
import { translating } from './translate-error.ts';

/** Objects by name. A name stands for its content: putting it again keeps what is there. */
export interface Bucket {
  has(name: string): Promise<boolean>;
  put(name: string, bytes: Uint8Array): Promise<void>;
  /** Throws OBJECT_MISSING. */
  get(name: string): Promise<Uint8Array>;
  /** Safe to repeat. */
  delete(name: string): Promise<void>;
  list(prefix: string): Promise<readonly string[]>;
}

const transferTimeoutMs = 30_000;

/** Opens a bucket that `provisionStreams` created. */
export async function openBucket(broker: Broker, bucket: BucketName): Promise<Bucket> {
  const store = await translating(() => new Objm(broker.js).open(bucket, { check: true }));
  const has = async (name: string): Promise<boolean> => {
    const info = await translating(() => store.info(name));
    return info !== null && !info.deleted;
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
    delete: async (name) => {
      if (await has(name)) await translating(() => store.delete(name));
    },
    list: async (prefix) => {
      const objects = await translating(() => store.list());
      return objects.filter(({ name, deleted }) => !deleted && name.startsWith(prefix)).map(({ name }) => name);
    },
  };
}
