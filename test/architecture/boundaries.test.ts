import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execFileSync } from 'node:child_process';
import { afterEach, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const planted: string[] = [];

afterEach(() => {
  for (const path of planted.splice(0)) rmSync(path, { force: true });
});

/** Runs the rules over one planted file and gives the names of those it breaks. */
function rulesBrokenBy(path: string, source: string): readonly string[] {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, source);
  planted.push(file);
  const report = JSON.parse(cruise(path)) as { summary: { violations: readonly { rule: { name: string } }[] } };
  return report.summary.violations.map(({ rule }) => rule.name);
}

function cruise(path: string): string {
  const args = [
    join(root, 'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs'),
    '--config',
    '.dependency-cruiser.cjs',
    '--output-type',
    'json',
    path,
  ];
  try {
    return execFileSync(process.execPath, args, { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  } catch (error) {
    // dependency-cruiser exits with the number of violations and still prints its report.
    return (error as { stdout: string }).stdout;
  }
}

const violations = [
  [
    'pure-code-touches-nothing',
    'libs/policy/src/planted.ts',
    "import { readFileSync } from 'node:fs';\nexport const planted = readFileSync;\n",
  ],
  [
    'pure-code-touches-nothing',
    'services/router/src/domain/planted.ts',
    "import { createHash } from 'node:crypto';\nexport const planted = createHash;\n",
  ],
  ['adapters-do-not-know-each-other', 'libs/git/src/planted.ts', "import '@flotilla/store/open-store';\n"],
  ['nest-stays-in-modules', 'libs/stream/src/planted.ts', "import '@nestjs/common';\n"],
  ['services-do-not-know-each-other', 'services/router/src/planted.ts', "import '../../merger/src/main.ts';\n"],
  ['libs-do-not-know-services', 'libs/contracts/src/planted.ts', "import '../../../services/merger/src/main.ts';\n"],
  [
    'shipped-code-does-not-use-test-code',
    'services/router/src/planted-test-use.ts',
    "import '@flotilla/testing/scripted-model/start-scripted-model';\n",
  ],
  ['no-circular', 'libs/contracts/src/planted-circle.ts', "import './planted-circle.ts';\n"],
] as const;

test.each(violations)('%s is reported for %s', (rule, path, source) => {
  expect(rulesBrokenBy(path, source)).toContain(rule);
});
