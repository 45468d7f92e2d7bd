import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { repositoryDirectory } from '../repository.ts';
import { writeShippedProjects } from './shipped-sources.ts';

let clone = '';
beforeEach(() => void (clone = mkdtempSync(join(tmpdir(), 'flotilla-shipped-'))));
afterEach(() => rmSync(clone, { recursive: true, force: true }));

const put = (path: string, content: unknown): void => {
  mkdirSync(dirname(join(clone, path)), { recursive: true });
  writeFileSync(join(clone, path), typeof content === 'string' ? content : JSON.stringify(content));
};
const compiler = join(repositoryDirectory, 'node_modules/typescript/bin/tsc');
const broken = "export const broken: number = 'a text';\n";

function putPackage(name: string, references: readonly string[]): void {
  put(`${name}/tsconfig.json`, {
    compilerOptions: {
      composite: true,
      rootDir: 'src',
      outDir: 'dist',
      module: 'nodenext',
      target: 'es2024',
      types: [],
      tsBuildInfoFile: 'dist/.tsbuildinfo',
    },
    include: ['src'],
    references: references.map((path) => ({ path })),
  });
  put(`${name}/src/deep/main.ts`, 'export const main: number = 1;\n');
}

async function compile(): Promise<readonly [number | null, string]> {
  const configs = await writeShippedProjects({ clone, into: join(clone, '.data/build') }, ['services/one']);
  const { status, stdout } = spawnSync(process.execPath, [compiler, '-b', ...configs], { encoding: 'utf8' });
  return [status, stdout];
}

test('what is shipped compiles into its packages whatever is broken in tests, and what is broken in it is found', async () => {
  putPackage('services/one', ['../../libs/two', '../../libs/testing']);
  putPackage('libs/two', []);
  putPackage('libs/testing', []);
  for (const path of ['services/one/src/a.test.ts', 'libs/two/src/deep/b.fixture.ts', 'libs/testing/src/c.ts'])
    put(path, broken);
  expect(await compile()).toEqual([0, '']);
  for (const name of ['services/one', 'libs/two'])
    expect(existsSync(join(clone, name, 'dist/deep/main.js'))).toBe(true);
  expect(existsSync(join(clone, 'libs/two/dist/deep/b.fixture.js'))).toBe(false);
  put('libs/two/src/deep/main.ts', broken);
  expect(await compile()).toEqual([expect.any(Number), expect.stringContaining('libs/two/src/deep/main.ts')]);
});
