import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { publishScratchRemote } from '@flotilla/dev/demo/scratch-remote';

/** A bare repository with these files beside a package.json whose test command is `node test.js`; gives its path. */
export async function makeSmallRemote(
  directory: string,
  name: string,
  files: Readonly<Record<string, string>>,
): Promise<string> {
  const source = join(directory, name);
  const all = {
    'package.json': JSON.stringify({ name, version: '1.0.0', scripts: { test: 'node test.js' } }),
    ...files,
  };
  for (const [path, text] of Object.entries(all)) {
    await mkdir(dirname(join(source, path)), { recursive: true });
    await writeFile(join(source, path), text);
  }
  const remote = join(directory, `${name}.git`);
  await publishScratchRemote(source, remote, 'Begin');
  return remote;
}

/** A library whose test fails until `subtract` subtracts. */
export const calculator = {
  files: {
    'calculator.js': 'exports.add = (a, b) => a + b;\nexports.subtract = (a, b) => a + b;\n',
    'test.js':
      "const assert = require('assert');\nconst { add, subtract } = require('./calculator');\nassert.equal(add(1, 2), 3);\nassert.equal(subtract(3, 2), 1);\n",
  },
  goal: 'The tests fail: subtract adds. Correct calculator.js.',
  edit: {
    path: 'calculator.js',
    find: 'exports.subtract = (a, b) => a + b;',
    replace: 'exports.subtract = (a, b) => a - b;',
  },
} as const;

/** Makes every push to a bare repository wait until `<remote>/go` is there; `<remote>/waiting` then shows that one does. */
export async function holdPushes(remote: string): Promise<void> {
  const hook = join(remote, 'hooks/pre-receive');
  await mkdir(dirname(hook), { recursive: true });
  await writeFile(hook, '#!/bin/sh\ntouch waiting\nwhile [ ! -e go ]; do sleep 0.05; done\n');
  await chmod(hook, 0o755);
}
