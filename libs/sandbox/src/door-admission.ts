import { lookup as lookupHost } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import { isIP } from 'node:net';
import type { DoorRule, DoorTarget } from './door-rules.ts';
import { decideAddresses } from './door-rules.ts';

export type Admission =
  { readonly kind: 'refused'; readonly reason: string } | { readonly kind: 'allowed'; readonly lookup: LookupFunction };

/** Looks a host up, once, and judges what comes back; the connection can then go to nothing else. */
export async function admitAddresses(
  lookup: (host: string) => Promise<readonly string[]>,
  privateRules: readonly DoorRule[],
  target: DoorTarget,
): Promise<Admission> {
  let addresses: readonly string[];
  try {
    addresses = isIP(target.host) === 0 ? await lookup(target.host) : [target.host];
  } catch {
    return { kind: 'refused', reason: 'the host cannot be looked up' };
  }
  const verdict = decideAddresses(privateRules, target, addresses);
  return verdict.kind === 'refused' ? verdict : { kind: 'allowed', lookup: lookupOf(addresses) };
}

/** Answers a connection's own look-up with the addresses that were judged. */
function lookupOf(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_, options, callback) => {
    const [first] = found;
    if (options.all) callback(null, [...found]);
    else callback(null, first?.address ?? '', first?.family);
  };
}

/** All addresses, by the system's resolver. */
export async function lookupAll(host: string): Promise<readonly string[]> {
  return (await lookupHost(host, { all: true })).map(({ address }) => address);
}
