import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fetchPackage, unpackPackage, type PinnedPackage } from './fetch-package.ts';
import { plantDefect, publishScratchRemote, type Defect } from './scratch-remote.ts';

/** A small real library: no dependency, and it ships tests that bare `node` runs. */
const library: PinnedPackage = {
  package: 'color-convert@0.5.3',
  integrity: 'sha512-RwBeO/B/vZR3dfKL1ye/vx8MHZ40ugzpyfeVG5GsiuGnrlMWe2o8wxBbLCpw9CsxV+wHuzYlCiWnybrIA0ling==',
};

/** The one defect put in: a sign, in the saturation of light colours. The library's own tests notice. */
export const libraryDefect: Defect = {
  path: 'conversions.js',
  sound: 's = delta / (2 - max - min);',
  broken: 's = delta / (2 - max + min);',
};

export const libraryGoal =
  'The tests fail: the saturation of light colours is wrong when RGB is converted to HSL. Find the defect in conversions.js and correct it.';

/** Path of the library's archive, see fetchPackage. */
export function fetchLibrary(cacheDirectory: string): Promise<string> {
  return fetchPackage(library, cacheDirectory);
}

/** Makes a bare repository at `<directory>/remote.git` that holds the library with its defect; gives its path. */
export async function makeScratchLibrary(directory: string, archive: string): Promise<string> {
  const source = join(directory, 'source');
  const remote = join(directory, 'remote.git');
  await rm(directory, { recursive: true, force: true });
  await mkdir(source, { recursive: true });
  await unpackPackage(archive, source);
  await plantDefect(source, libraryDefect);
  await publishScratchRemote(source, remote, `Import ${library.package}`);
  return remote;
}
