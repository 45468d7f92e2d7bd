import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ScratchClone } from './scratch-clone.fixture.ts';

test('the linter judges the boundaries of packages in a clone where no graph of them was ever made', () => {
  using clone = new ScratchClone();
  const planted = 'libs/errors/src/planted.ts';
  // The boundaries of one file need no types of all the others.
  const program = { extends: './tsconfig.base.json', compilerOptions: { noResolve: true }, files: [planted] };
  clone.plant({
    [planted]: "import '@flotilla/store/open-store';\n",
    'tsconfig.lint.json': JSON.stringify(program),
  });
  const eslint = join(clone.directory, 'node_modules/eslint/bin/eslint.js');
  const { stdout, status } = spawnSync(process.execPath, [eslint, planted], { cwd: clone.directory, encoding: 'utf8' });
  expect(status).toBe(1);
  expect(stdout).toContain('@nx/enforce-module-boundaries');
});
