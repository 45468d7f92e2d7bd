import { lstatSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunId, StepId } from '@flotilla/contracts/ids';
import { MemoryStepContext } from '@flotilla/testing/memory-step-context';
import { text } from '@flotilla/testing/scripted-model/script';
import { expect, test } from 'vitest';
import { openShop, type Shop } from './workplace.fixture.ts';
import { bindWorkspace } from './workspace-port.ts';

const step = { runId: 'run_01j9z3k8m2n4p6q8r0s2t4v6w8' as RunId, stepId: 'build' as StepId, attempt: 1 };
const files = {
  'a.ts': 'needle\n',
  'src/b.ts': 'Needle\n',
  'src/deep/c.ts': 'x\n',
  '.gitattributes': 'src export-ignore\n',
};
const limits = { timeoutMs: 20_000, limitBytes: 100_000, signal: new AbortController().signal };

test('the slot holds the exact tree, and git in it compares with the commit that was asked for', async () => {
  await using shop = await openShop(() => text(''), files);
  const change = shop.change({ 'a.ts': 'changed\n' });
  await using place = await prepare(shop, { commits: [shop.base, change], lay: change.commit, head: shop.base.commit });
  const workspace = bindWorkspace(place);
  const listed = await workspace.run(
    { shell: 'git status --porcelain && cat a.ts src/b.ts && git log --oneline | wc -l' },
    limits,
  );
  expect(listed.output).toBe(' M a.ts\nchanged\nNeedle\n1\n');
});

test('globs and searches take paths from the root of the workspace', async () => {
  await using shop = await openShop(() => text(''), files);
  await using place = await prepare(shop, { commits: [shop.base], lay: shop.base.commit });
  const workspace = bindWorkspace(place);
  const glob = async (pattern: string, path = '.', limit = 10) => workspace.glob(pattern, { path, limit });
  expect((await glob('*.ts')).items).toEqual(['a.ts']);
  expect((await glob('**/*.ts')).items).toEqual(['a.ts', 'src/b.ts', 'src/deep/c.ts']);
  expect((await glob('**/*.ts', 'src')).items).toEqual(['src/b.ts', 'src/deep/c.ts']);
  expect(await glob('**/*.ts', 'src', 1)).toEqual({ items: ['src/b.ts'], truncated: true });
  const grep = { regex: false, ignoreCase: true, path: '.', limit: 10 };
  expect((await workspace.grep({ ...grep, pattern: 'needle' })).items).toEqual([
    { path: 'a.ts', line: 1, text: 'needle' },
    { path: 'src/b.ts', line: 1, text: 'Needle' },
  ]);
});

test('a link that leads out of the workspace is not followed', async () => {
  await using shop = await openShop(() => text(''), files);
  await using place = await prepare(shop, { commits: [shop.base], lay: shop.base.commit });
  symlinkSync('/etc/passwd', join(place.slot.directory, 'out'));
  const workspace = bindWorkspace(place);
  await expect(workspace.read('out', 1_000)).rejects.toMatchObject({ remedy: 'caller' });
  await workspace.write('out', 'mine').catch(() => undefined);
  expect(lstatSync('/etc/passwd').size).toBeGreaterThan(4);
});

test('files are read to their limit and told with their whole size', async () => {
  await using shop = await openShop(() => text(''), { 'long.txt': 'line\n'.repeat(1_000) });
  await using place = await prepare(shop, { commits: [shop.base], lay: shop.base.commit });
  const { bytes, sizeBytes } = await bindWorkspace(place).read('long.txt', 100);
  expect(bytes.byteLength).toBe(100);
  expect(sizeBytes).toBe(5_000);

  // Each of these bytes is no UTF-8, and becomes a replacement character of three.
  writeFileSync(join(place.slot.directory, 'latin.txt'), Buffer.alloc(150, 0xe4));
  const part = await bindWorkspace(place).read('latin.txt', 100);
  expect(part.sizeBytes).toBeGreaterThan(part.bytes.byteLength);
});

test('a commit that is neither here nor stored is told by the repository and its id', async () => {
  await using shop = await openShop(() => text(''), files);
  shop.bundles.names.clear();
  const absent = prepare(shop, { commits: [shop.base], lay: shop.base.commit });
  await expect(absent).rejects.toMatchObject({
    code: 'COMMIT_UNAVAILABLE',
    message: expect.stringContaining(shop.base.commit),
  });
  expect(shop.containers()).toEqual([]);
});

function prepare(shop: Shop, wanted: Pick<Parameters<Shop['workplaces']['prepare']>[0], 'commits' | 'lay' | 'head'>) {
  return shop.workplaces.prepare({ step, ...shop.work, ...wanted }, new MemoryStepContext());
}
