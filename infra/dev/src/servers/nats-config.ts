import { isAtLeast } from './source.ts';

export interface NatsConfig {
  readonly listen: string;
  readonly storeDirectory: string;
  /** Of the server that will read it. */
  readonly version: string;
  /** A block of configuration that says who may connect and do what. */
  readonly authorization: string;
}

/**
 * The configuration of the fleet's NATS server. From 2.10 each write is synced before it is acknowledged; older servers
 * refuse the setting and sync every two minutes, which loses acknowledged messages only with the machine's power.
 */
export function renderNatsConfig({ listen, storeDirectory, version, authorization }: NatsConfig): string {
  const sync = isAtLeast(version, '2.10.0') ? '  sync_interval: always\n' : '';
  return `server_name: flotilla
listen: ${JSON.stringify(listen)}
max_payload: 8MB
jetstream {
  store_dir: ${JSON.stringify(storeDirectory)}
${sync}}
${authorization.trim()}
`;
}

/** One user who may do everything. */
export function renderSingleUser(user: string, password: string): string {
  return `authorization {\n  user: ${JSON.stringify(user)}\n  password: ${JSON.stringify(password)}\n}`;
}
