import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { z } from 'zod';

const Config = z.object({ references: z.array(z.object({ path: z.string() })).default([]) });

/** Nothing that is shipped is made of it. */
const testTools = 'libs/testing';

/**
 * Writes projects for the compiler into `into` that are those of the packages and of all that they refer to, without tests: same
 * options, same `dist`, a record of their own of what is compiled. Gives the configurations of the packages that were asked for.
 */
export async function writeShippedProjects(
  { clone, into }: { readonly clone: string; readonly into: string },
  packages: readonly string[],
): Promise<readonly string[]> {
  const written = new Set<string>();
  const configOf = (name: string): string => join(into, name, 'tsconfig.json');
  const write = async (name: string): Promise<void> => {
    if (written.has(name)) return;
    written.add(name);
    const original = join(clone, name, 'tsconfig.json');
    const { references } = Config.parse(JSON.parse(await readFile(original, 'utf8')));
    const needed = references
      .map(({ path }) => relative(clone, resolve(clone, name, path)))
      .filter((other) => other !== testTools);
    const source = join(clone, name, 'src');
    await mkdir(dirname(configOf(name)), { recursive: true });
    await writeWhereChanged(configOf(name), {
      extends: original,
      compilerOptions: { tsBuildInfoFile: join(clone, name, 'dist/.shipped.tsbuildinfo') },
      include: [source],
      exclude: ['test', 'fixture'].map((kind) => join(source, '**', `*.${kind}.ts`)),
      references: needed.map((other) => ({ path: configOf(other) })),
    });
    for (const other of needed) await write(other);
  };
  for (const name of packages) await write(name);
  return packages.map(configOf);
}

/** A configuration that is newer than what was made with it is compiled again. */
async function writeWhereChanged(path: string, config: unknown): Promise<void> {
  const text = `${JSON.stringify(config, undefined, 2)}\n`;
  if ((await readFile(path, 'utf8').catch(() => '')) !== text) await writeFile(path, text);
}
