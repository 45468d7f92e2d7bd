import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fetchPackage, unpackPackage, type PinnedPackage } from '@flotilla/dev/demo/fetch-package';
import { plantDefect, publishScratchRemote, type Defect } from '@flotilla/dev/demo/scratch-remote';

interface Part extends PinnedPackage {
  /** What of the package goes where in the project. */
  readonly copies: Readonly<Record<string, string>>;
}

export interface OrdinaryProject {
  readonly name: string;
  readonly parts: readonly Part[];
  readonly defect: Defect;
  readonly goal: string;
}

/** A library with a dependency, a lock file and a test framework. */
export const queryStrings: OrdinaryProject = {
  name: 'qs',
  parts: [
    {
      package: 'qs@6.13.0',
      integrity: 'sha512-+38qI9SOr8tfZ4QmJNplMUxqjbe7LKvvZgWdExBOmd+egZTtjLB67Gu0HRX3u/XOq7UU2Nx6nsjvS16Z9uwfpg==',
      copies: { lib: 'lib', test: 'test', 'LICENSE.md': 'LICENSE.md' },
    },
  ],
  defect: {
    path: 'lib/formats.js',
    sound: "return replace.call(value, percentTwenties, '+');",
    broken: "return replace.call(value, percentTwenties, '-');",
  },
  goal: 'Spaces are written as hyphens in the RFC 1738 format. Correct lib/formats.js.',
};

/** A TypeScript workspace of three packages with a build step. */
export const typescriptWorkspace: OrdinaryProject = {
  name: 'typescript-workspace',
  parts: [
    {
      package: 'memoize-one@6.0.0',
      integrity: 'sha512-rkpe71W0N0c0Xz6QD0eJETuWAJGnJ9afsl1srmwPrI+yBCkge5EycXXbYRyvL29zZVUWQCY7InPRCv3GDXuZNw==',
      copies: {
        'src/are-inputs-equal.ts': 'packages/memoize/src/are-inputs-equal.ts',
        'src/memoize-one.ts': 'packages/memoize/src/memoize-one.ts',
      },
    },
    {
      package: 'tiny-invariant@1.3.3',
      integrity: 'sha512-+FbBPE1o9QAYvviau/qC5SE3caw21q3xkvWKBtja5vgqOWIHHJ3ioaq1VPfn/Szqctz2bU/oYeKd9/z5BL+PVg==',
      copies: { 'src/tiny-invariant.ts': 'packages/invariant/src/tiny-invariant.ts' },
    },
  ],
  defect: {
    path: 'packages/memoize/src/are-inputs-equal.ts',
    sound: 'if (safeIsNaN(first) && safeIsNaN(second)) {',
    broken: 'if (safeIsNaN(first) && !safeIsNaN(second)) {',
  },
  goal: 'The same input is computed twice when it is NaN. Correct packages/memoize/src/are-inputs-equal.ts.',
};

/** A Python package tested by unittest. */
export const pythonUnittest: OrdinaryProject = {
  name: 'python-unittest',
  parts: [],
  defect: { path: 'roman/__init__.py', sound: 'while number >= value:', broken: 'while number > value:' },
  goal: 'Roman numerals lose their last letter. Correct roman/__init__.py.',
};

/** Makes a bare repository at `<directory>/<name>.git` with the project and its defect; gives its path. */
export async function makeProject(
  project: OrdinaryProject,
  directory: string,
  cacheDirectory: string,
): Promise<string> {
  const source = join(directory, project.name);
  const remote = join(directory, `${project.name}.git`);
  await mkdir(directory, { recursive: true });
  await cp(fileURLToPath(new URL(project.name, import.meta.url)), source, { recursive: true });
  for (const part of project.parts) await addPart(part, source, directory, cacheDirectory);
  await plantDefect(source, project.defect);
  await publishScratchRemote(source, remote, `Import ${project.name}`);
  return remote;
}

async function addPart(part: Part, source: string, directory: string, cacheDirectory: string): Promise<void> {
  const unpacked = await mkdtemp(join(directory, 'part-'));
  await unpackPackage(await fetchPackage(part, cacheDirectory), unpacked);
  for (const [from, to] of Object.entries(part.copies))
    await cp(join(unpacked, from), join(source, to), { recursive: true });
  await rm(unpacked, { recursive: true, force: true });
}
