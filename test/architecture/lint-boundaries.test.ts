import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

test('the linter judges the boundaries of packages also where no graph of them was ever made', () => {
  const neverUsed = mkdtempSync(join(tmpdir(), 'flotilla-graph-'));
  const planted = join(root, 'libs/errors/src/planted-lint.ts');
  try {
    writeFileSync(planted, "import '@flotilla/store/open-store';\n");
    const { stdout, status } = spawnSync(process.execPath, [join(root, 'node_modules/eslint/bin/eslint.js'), planted], {
      cwd: root,
      env: { ...process.env, NX_WORKSPACE_DATA_DIRECTORY: neverUsed },
      encoding: 'utf8',
    });
    expect(stdout).toContain('@nx/enforce-module-boundaries');
    expect(status).toBe(1);
  } finally {
    rmSync(planted, { force: true });
    rmSync(neverUsed, { recursive: true, force: true });
  }
});
