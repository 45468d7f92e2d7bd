import { loopbackHosts } from './check-host.ts';

/**
 * The names a gateway answers to: those that were listed, and of the loopback where it listens there. Undefined, which means any,
 * where it listens elsewhere and nothing is listed.
 */
export function chooseHosts(listenHost: string, listed: readonly string[]): readonly string[] | undefined {
  const own = isLoopback(listenHost) ? loopbackHosts : [];
  const all = [...own, ...listed.map((name) => name.toLowerCase())];
  return all.length === 0 ? undefined : all;
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\./.test(host);
}
