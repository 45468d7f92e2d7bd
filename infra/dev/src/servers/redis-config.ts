export interface RedisConfig {
  readonly port: number;
  readonly directory: string;
  readonly password: string;
}

/** Loopback only, with a password, synced once a second: what it holds is leases, whose truth is elsewhere. */
export function renderRedisConfig({ port, directory, password }: RedisConfig): string {
  return `bind 127.0.0.1
port ${port}
dir ${JSON.stringify(directory)}
requirepass ${password}
appendonly yes
appendfsync everysec
save ""
maxmemory-policy noeviction
daemonize no
`;
}
