import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { serviceNames, type ServiceName } from '@flotilla/contracts/services';

/** Secrets of one local fleet, made once and kept in its data directory with mode 0600. */
export interface FleetSecrets {
  /** Tells the sandboxes of this fleet from those of every other on the machine. */
  readonly installation: string;
  /** Bearer token of the local user. */
  readonly token: string;
  /** Password of each principal of the broker; `local` is the local user who publishes tasks. */
  readonly broker: Readonly<Record<ServiceName | 'local', string>>;
}

export async function keepFleetSecrets(dataDirectory: string): Promise<FleetSecrets> {
  await mkdir(dataDirectory, { recursive: true, mode: 0o700 });
  const path = join(dataDirectory, 'secrets.json');
  const kept = await readFile(path, 'utf8').catch(() => undefined);
  const secrets: FleetSecrets = {
    installation: `fleet-${randomBytes(6).toString('hex')}`,
    token: makeSecret(),
    broker: Object.fromEntries(
      [...serviceNames, 'local'].map((name) => [name, makeSecret()]),
    ) as FleetSecrets['broker'],
    // What an earlier version kept counts; what it did not know yet is made now.
    ...(kept === undefined ? {} : (JSON.parse(kept) as Partial<FleetSecrets>)),
  };
  await writePrivately(path, JSON.stringify(secrets, null, 2));
  return secrets;
}

/** Writes a file that only its owner reads, whole or not at all. */
export async function writePrivately(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text, { mode: 0o600 });
  await rename(`${path}.new`, path);
}

/** A letter first: the NATS client takes digits after a colon for the port. */
function makeSecret(): string {
  return `f${randomBytes(24).toString('hex')}`;
}
