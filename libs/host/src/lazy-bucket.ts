import type { BucketName } from '@flotilla/contracts/streams';
import type { Broker } from '@flotilla/stream/connect-broker';
import { type Bucket, openBucket } from '@flotilla/stream/open-bucket';

/** A bucket that is opened at its first use, and again where opening failed. */
export function createLazyBucket(broker: Broker, name: BucketName): Bucket {
  let opening: Promise<Bucket> | undefined;
  const open = (): Promise<Bucket> => {
    opening ??= openBucket(broker, name).catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    return opening;
  };
  return {
    has: async (object) => (await open()).has(object),
    put: async (object, bytes) => (await open()).put(object, bytes),
    renew: async (object, bytes) => (await open()).renew(object, bytes),
    get: async (object) => (await open()).get(object),
    delete: async (object) => (await open()).delete(object),
    deleteUnchanged: async (object) => (await open()).deleteUnchanged(object),
    list: async (prefix) => (await open()).list(prefix),
    listObjects: async () => (await open()).listObjects(),
    find: async (object) => (await open()).find(object),
  };
}
