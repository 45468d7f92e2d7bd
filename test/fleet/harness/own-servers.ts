import { bringUpServers, type Servers } from '@flotilla/dev/servers';
import { silentReport } from '@flotilla/dev/report';

export interface OwnServers extends Servers {
  /** As a fleet's settings name them. */
  readonly addresses: Readonly<Record<'DATABASE_URL' | 'NATS_URL' | 'REDIS_URL', string>>;
}

/** Servers of a test's own, whatever the environment offers, with one user of NATS who may do everything. */
export async function startOwnServers(dataDirectory: string): Promise<OwnServers> {
  const { DATABASE_URL: _database, NATS_URL: _nats, REDIS_URL: _redis, ...environment } = process.env;
  const servers = await bringUpServers({ dataDirectory, report: silentReport, environment });
  const { nats, redis, postgres } = servers;
  return { ...servers, addresses: { DATABASE_URL: postgres.url, NATS_URL: nats.url, REDIS_URL: redis.url } };
}
