import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execFileSync } from 'node:child_process';
import { beforeAll, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Per case: the rule, the file that breaks it, and the files planted for it. */
const cases: readonly (readonly [rule: string, offender: string, files: Readonly<Record<string, string>>])[] = [
  breaks('pure-code-touches-nothing', 'libs/policy/src/planted.ts', "import 'node:fs';"),
  breaks('pure-code-touches-nothing', 'services/router/src/domain/planted.ts', "import 'node:crypto';"),
  breaks('adapters-do-not-know-each-other', 'libs/git/src/planted.ts', "import '@flotilla/store/open-store';"),
  breaks('nest-stays-in-modules', 'libs/stream/src/planted.ts', "import '@nestjs/common';"),
  breaks(
    'services-do-not-know-each-other',
    'services/router/src/planted.ts',
    "import '../../merger/src/merger.stages.ts';",
  ),
  breaks('services-do-not-know-each-other', 'services/planner/src/planted.ts', "import '@flotilla/router/main';"),
  breaks(
    'libs-do-not-know-services',
    'libs/contracts/src/planted.ts',
    "import '../../../services/merger/src/merger.stages.ts';",
  ),
  breaks(
    'services-and-libraries-do-without-the-test-library',
    'services/router/src/planted-test-use.ts',
    "import '@flotilla/testing/scripted-model/start-scripted-model';",
  ),
  breaks('shipped-code-does-not-use-test-code', 'libs/store/src/planted.ts', "import './store.fixture.ts';"),
  breaks('no-circular', 'libs/errors/src/planted-circle.ts', "import './planted-circle.ts';"),
  [
    'no-circular',
    'libs/errors/src/planted-left.ts',
    {
      'libs/errors/src/planted-left.ts':
        "import type { Right } from './planted-right.ts';\nexport type Left = Right;\n",
      'libs/errors/src/planted-right.ts':
        "import type { Left } from './planted-left.ts';\nexport type Right = Left[];\n",
    },
  ],
];

function breaks(rule: string, path: string, source: string) {
  return [rule, path, { [path]: `${source}\nexport const planted = true;\n` }] as const;
}

const planted = Object.assign({}, ...cases.map(([, , files]) => files)) as Readonly<Record<string, string>>;
let violations: readonly { readonly rule: { readonly name: string }; readonly from: string }[];

beforeAll(() => {
  try {
    for (const [path, source] of Object.entries(planted)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), source);
    }
    violations = cruise(Object.keys(planted));
  } finally {
    for (const path of Object.keys(planted)) rmSync(join(root, path), { force: true });
  }
});

function cruise(paths: readonly string[]): typeof violations {
  const program = join(root, 'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs');
  const args = [program, '--config', '.dependency-cruiser.cjs', '--output-type', 'json', ...paths];
  const report = (output: string) => (JSON.parse(output) as { summary: { violations: typeof violations } }).summary;
  try {
    return report(execFileSync(process.execPath, args, { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 }))
      .violations;
  } catch (error) {
    // dependency-cruiser exits with the number of violations and still prints its report.
    return report((error as { stdout: string }).stdout).violations;
  }
}

test.each(cases)('%s is reported for %s', (rule, offender) => {
  const broken = violations.filter(({ from }) => from === offender).map(({ rule: { name } }) => name);
  expect(broken).toContain(rule);
});

test('nothing but what was planted breaks a rule', () => {
  const others = violations.filter(({ from }) => !Object.hasOwn(planted, from));
  expect(others).toEqual([]);
});
