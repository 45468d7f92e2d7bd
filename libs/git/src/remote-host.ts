import { BlockList, isIP } from 'node:net';

export interface JudgedHost {
  /** Lower case; an IPv6 address in brackets. */
  readonly name: string;
  readonly loopback: boolean;
}

/** Names under which clouds answer with credentials of the machine. */
const metadataNames = new Set([
  'metadata',
  'metadata.google.internal',
  'metadata.goog',
  'instance-data',
  'instance-data.ec2.internal',
]);

/**
 * Judges the host of a remote by its text. Private addresses are allowed, as git servers often have one; link-local,
 * metadata, unspecified and multicast ones are not. Names are not resolved: what is spoken to them is ssh, or https with a
 * certificate for the name, so that a name that points to a metadata service gets nothing from it.
 */
export function judgeHost(text: string, refuse: (reason: string) => never): JudgedHost {
  const name = normaliseHost(text) ?? refuse('its host is not a host name');
  const bare = name.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  if (metadataNames.has(bare)) refuse('its host is a metadata service');
  const version = isIP(bare);
  if (version === 0) return { name, loopback: bare === 'localhost' || bare.endsWith('.localhost') };
  const family = version === 4 ? 'ipv4' : 'ipv6';
  if (refusedAddresses.check(bare, family)) refuse('its host is a link-local, metadata or multicast address');
  return { name, loopback: loopbackAddresses.check(bare, family) };
}

/** As URL parsers see it, so that 0x7f.1 and 2130706433 are known for what they are. */
function normaliseHost(text: string): string | undefined {
  if (!/^(\[[0-9a-fA-F:.]+\]|[^\s/\\@:?#%[\]]+)$/u.test(text)) return undefined;
  if (!URL.canParse(`http://${text}/`)) return undefined;
  const host = new URL(`http://${text}/`).hostname.replace(/\.$/, '');
  const isName = /^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$/.test(host);
  return isName || host.startsWith('[') ? host : undefined;
}

const loopbackAddresses = new BlockList();
loopbackAddresses.addSubnet('127.0.0.0', 8, 'ipv4');
loopbackAddresses.addAddress('::1', 'ipv6');

const refusedAddresses = new BlockList();
refusedAddresses.addSubnet('0.0.0.0', 8, 'ipv4');
refusedAddresses.addSubnet('169.254.0.0', 16, 'ipv4');
refusedAddresses.addSubnet('224.0.0.0', 3, 'ipv4');
refusedAddresses.addAddress('100.100.100.200', 'ipv4');
refusedAddresses.addAddress('192.0.0.192', 'ipv4');
refusedAddresses.addAddress('::', 'ipv6');
refusedAddresses.addSubnet('fe80::', 10, 'ipv6');
refusedAddresses.addSubnet('ff00::', 8, 'ipv6');
refusedAddresses.addAddress('fd00:ec2::254', 'ipv6');
