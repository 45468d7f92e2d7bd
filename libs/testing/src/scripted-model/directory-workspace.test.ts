import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openDirectoryWorkspace } from './directory-workspace.ts';

test('a command whose caller has already given up is not started', async () => {
  const root = mkdtempSync(join(tmpdir(), 'flotilla-directory-workspace-'));
  try {
    const options = { timeoutMs: 10_000, limitBytes: 1_000, signal: AbortSignal.abort(new Error('given up')) };
    const running = openDirectoryWorkspace(root).run({ shell: 'touch started; exec sleep 1000' }, options);
    await expect(running).rejects.toThrow('given up');
    expect(existsSync(join(root, 'started'))).toBe(false);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});
