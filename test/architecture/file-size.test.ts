import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const sources = globSync(['{libs,services,infra,test}/**/*.ts', '*.ts', 'services/*/bin/*.mjs'], {
  cwd: root,
  exclude: ['**/node_modules', '**/dist', '**/.data', 'test/fleet/projects'],
});
const linesMost = 400;

test('no source file is so long that it must hold more than one idea', () => {
  expect(sources.length).toBeGreaterThan(500);
  const lengths = sources.map((path) => [path, readFileSync(join(root, path), 'utf8').split('\n').length - 1] as const);
  expect(lengths.filter(([, lines]) => lines > linesMost)).toEqual([]);
});
