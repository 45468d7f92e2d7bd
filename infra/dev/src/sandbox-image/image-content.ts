import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { repositoryDirectory } from '../repository.ts';

/** Everything that goes into the sandbox image, and the names that follow from it. */
export interface ImageContent {
  /** Directory of Dockerfile, packages.txt and flotilla-door. */
  readonly recipeDirectory: string;
  /** Debian packages of the image. */
  readonly packages: readonly string[];
  /** Directory of the package that has bin/node. */
  readonly nodeDirectory: string;
  readonly npmDirectory: string;
  /** `flotilla/sandbox:<hash of all of it>` */
  readonly image: string;
  /** `flotilla/sandbox-base:<hash of the packages>`, what the image is built on where no registry answers. */
  readonly baseImage: string;
}

const recipeFiles = ['Dockerfile', 'packages.txt', 'flotilla-door'];

/** Throws SANDBOX_IMAGE_UNAVAILABLE where the packages are not installed. */
export async function readImageContent(): Promise<ImageContent> {
  const recipeDirectory = join(repositoryDirectory, 'infra', 'docker', 'sandbox');
  const nodePackage = readPackage(`node-linux-${process.arch}`);
  const npmPackage = readPackage('npm');
  const [node, npm, ...recipe] = await Promise.all([
    readVersion(nodePackage),
    readVersion(npmPackage),
    ...recipeFiles.map((name) => readFile(join(recipeDirectory, name), 'utf8')),
  ]);
  const packages = (recipe[1] ?? '').split('\n').filter((line) => line !== '');
  return {
    recipeDirectory,
    packages,
    nodeDirectory: dirname(nodePackage),
    npmDirectory: dirname(npmPackage),
    image: `flotilla/sandbox:${hash([process.arch, node, npm, ...recipe])}`,
    baseImage: `flotilla/sandbox-base:${hash([process.arch, ...packages])}`,
  };
}

function readPackage(name: string): string {
  try {
    return createRequire(import.meta.url).resolve(`${name}/package.json`);
  } catch (cause) {
    const reason = `the npm package ${name}, which goes into it, is not installed`;
    throw new FlotillaError(errors.sandboxImageUnavailable, { image: 'flotilla/sandbox', reason }, { cause });
  }
}

async function readVersion(packagePath: string): Promise<string> {
  return /"version":\s*"([^"]+)"/.exec(await readFile(packagePath, 'utf8'))?.[1] ?? 'unknown';
}

function hash(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 12);
}
