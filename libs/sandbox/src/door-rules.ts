import { BlockList, isIP } from 'node:net';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';

export interface DoorTarget {
  /** Lower case, without brackets or a final dot. */
  readonly host: string;
  readonly port: number;
}

export interface DoorRule {
  readonly host: string;
  /** Default: 80 and 443. */
  readonly port: number | undefined;
}

export type DoorVerdict = { readonly kind: 'allowed' } | { readonly kind: 'refused'; readonly reason: string };

const usualPorts: readonly number[] = [80, 443];

/** `host` or `host:port`, exactly; no patterns. Throws DOOR_REFUSED. */
export function parseDoorRule(text: string): DoorRule {
  const target = parseAuthority(text, 0);
  if (target === undefined)
    throw new FlotillaError(errors.doorRefused, { reason: `${JSON.stringify(text)} is not a host` });
  return { host: target.host, port: target.port === 0 ? undefined : target.port };
}

/** The target of `host:port`, `[address]:port` or `host`; undefined for anything else. */
export function parseAuthority(text: string, defaultPort: number): DoorTarget | undefined {
  const match = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9_.-]+))(?::(\d{1,5}))?$/i.exec(text);
  const host = (match?.[1] ?? match?.[2])?.toLowerCase().replace(/\.$/, '');
  const port = match?.[3] === undefined ? defaultPort : Number(match[3]);
  if (host === undefined || host === '' || port > 65_535 || (match?.[3] !== undefined && port === 0)) return undefined;
  if (match?.[1] !== undefined && isIP(host) !== 6) return undefined;
  return { host, port };
}

/** Whether a target is on the list at all, before anything is looked up. */
export function decideTarget(rules: readonly DoorRule[], target: DoorTarget): DoorVerdict {
  const named = rules.filter(({ host }) => host === target.host);
  if (named.length === 0) return { kind: 'refused', reason: 'the host is not on the list' };
  const open = named.some(({ port }) => (port === undefined ? usualPorts.includes(target.port) : port === target.port));
  return open ? { kind: 'allowed' } : { kind: 'refused', reason: 'the port is not on the list' };
}

/** Whether a connection may be made, given all addresses that the host resolved to. One bad address refuses them all. */
export function decideAddresses(
  privateRules: readonly DoorRule[],
  target: DoorTarget,
  addresses: readonly string[],
): DoorVerdict {
  if (addresses.length === 0) return { kind: 'refused', reason: 'the host has no address' };
  if (privateRules.some(({ host, port }) => host === target.host && port === target.port)) return { kind: 'allowed' };
  const inward = addresses.find((address) => !isPublicAddress(address));
  return inward === undefined ? { kind: 'allowed' } : { kind: 'refused', reason: `${inward} is not a public address` };
}

/**
 * False for addresses that lead to this machine, its neighbours or nowhere: loopback, private, shared, link-local, multicast,
 * and reserved (IANA's special-purpose registries, RFC 6890). Addresses that carry an IPv4 address inside
 * are judged by that.
 */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !inward.check(address, 'ipv4');
  if (family === 0 || address.includes('%')) return false;
  const words = expandIPv6(address);
  const carried = carriedIPv4(words);
  if (carried !== undefined) return isPublicAddress(carried);
  return !inward.check(address, 'ipv6');
}

const inward = new BlockList();
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const) {
  inward.addSubnet(network, prefix, 'ipv4');
}
for (const [network, prefix] of [
  ['::', 96],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['3fff::', 20],
  ['5f00::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
] as const) {
  inward.addSubnet(network, prefix, 'ipv6');
}

/** The eight 16-bit words of a valid address. */
function expandIPv6(address: string): readonly number[] {
  const withHex = address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, a, b, c, d) => {
    const word = (high: string, low: string) => ((Number(high) << 8) | Number(low)).toString(16);
    return `${word(a, b)}:${word(c, d)}`;
  });
  const [head = '', tail] = withHex.split('::');
  const words = (part: string) => (part === '' ? [] : part.split(':').map((word) => parseInt(word, 16)));
  const left = words(head);
  const right = words(tail ?? '');
  return [...left, ...Array<number>(8 - left.length - right.length).fill(0), ...right];
}

/** IPv4-mapped (::ffff:0:0/96), NAT64 (64:ff9b::/96), 6to4 (2002::/16). */
function carriedIPv4(words: readonly number[]): string | undefined {
  const starts = (...prefix: readonly number[]) => prefix.every((word, index) => words[index] === word);
  if (starts(0, 0, 0, 0, 0, 0xffff) || starts(0x64, 0xff9b, 0, 0, 0, 0)) return dotted(words[6] ?? 0, words[7] ?? 0);
  if (starts(0x2002)) return dotted(words[1] ?? 0, words[2] ?? 0);
  return undefined;
}

function dotted(high: number, low: number): string {
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}
