import type { Passwords } from './passwords.ts';
import type { ServerName } from './source.ts';

/** The address of a server of ours on a loopback port, with the credentials of its one user. */
export function urlOf(server: ServerName, passwords: Passwords, port: number): string {
  const address = `127.0.0.1:${port}`;
  switch (server) {
    case 'nats':
      return `nats://flotilla:${passwords.nats}@${address}`;
    case 'redis':
      return `redis://:${passwords.redis}@${address}`;
    case 'postgres':
      return `postgres://flotilla:${passwords.postgres}@${address}/flotilla`;
  }
}
