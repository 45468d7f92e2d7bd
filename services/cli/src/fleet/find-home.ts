import { access, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/**
 * The clone of Flotilla or data directory of a fleet that a directory lies in, the nearest of them; undefined where it lies in
 * none. What cannot be read is none.
 */
export async function findHome(directory: string): Promise<string | undefined> {
  for (let place = directory; ; place = dirname(place)) {
    if ((await isDataDirectory(place)) || (await isClone(place))) return place;
    if (dirname(place) === place) return undefined;
  }
}

/** A fleet that was started once has both. */
async function isDataDirectory(directory: string): Promise<boolean> {
  return (await exists(join(directory, 'tokens.json'))) && exists(join(directory, 'servers.lock'));
}

async function isClone(directory: string): Promise<boolean> {
  const text = await readFile(join(directory, 'package.json'), 'utf8').catch(() => '');
  return /"name":\s*"flotilla"/.test(text) && exists(join(directory, 'services', 'cli', 'package.json'));
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
