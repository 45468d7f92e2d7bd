import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { ScratchClone } from './scratch-clone.fixture.ts';

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
  breaks('no-dead-files', 'services/router/src/planted-dead.ts', "import 'node:crypto';"),
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
  using clone = new ScratchClone();
  clone.plant(planted);
  violations = cruise(clone.directory);
});

function cruise(directory: string): typeof violations {
  const program = join(directory, 'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs');
  const everything = ['libs', 'services', 'infra/dev/src', 'test'];
  const { stdout } = spawnSync(
    process.execPath,
    [program, '--config', '.dependency-cruiser.cjs', '--output-type', 'json', ...everything],
    { cwd: directory, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 },
  );
  return (JSON.parse(stdout) as { summary: { violations: typeof violations } }).summary.violations;
}

test.each(cases)('%s is reported for %s', (rule, offender) => {
  const broken = violations.filter(({ from }) => from === offender).map(({ rule: { name } }) => name);
  expect(broken).toContain(rule);
});

test('nothing but what was planted breaks a rule', () => {
  const others = violations.filter(({ from }) => !Object.hasOwn(planted, from));
  expect(others).toEqual([]);
});
