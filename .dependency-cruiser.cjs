/** The house's dependency rules. test/architecture plants a violation of each and expects it to be found. */
const pure = '^libs/(errors|contracts|policy|workflow|agent)/src/|^services/[^/]+/src/domain/';
const tests = '\\.(test|fixture)\\.ts$';
const programs = [
  '\\.test\\.ts$',
  '^services/[^/]+/src/main\\.ts$',
  '^services/cli/(bin/|src/cli\\.ts$)',
  '^infra/dev/src/(start|demo|demo-keeper|doctor|backup|nats-users|run-tests|generate/main)\\.ts$',
  '^libs/testing/src/scripted-model/main\\.ts$',
  '^test/bench/(run|classify|contestant-process|contestants/\\w+)\\.ts$',
  '^test/chaos/main\\.ts$',
  '^libs/host/src/run-service\\.fixture\\.ts$',
].join('|');
const adapters = 'stream|store|sandbox|git|model';

module.exports = {
  forbidden: [
    {
      name: 'pure-code-touches-nothing',
      comment: 'Domain code takes facts and returns decisions; it never reaches for the world.',
      severity: 'error',
      from: { path: pure, pathNot: tests },
      to: { pathNot: [pure, 'node_modules/(zod|yaml|picomatch|unbash)/'] },
    },
    {
      name: 'adapters-do-not-know-each-other',
      comment: "A service's module file is the only place where two adapters meet.",
      severity: 'error',
      from: { path: `^libs/(${adapters})/src/`, pathNot: tests },
      to: { path: '^libs/', pathNot: '^libs/(errors|contracts|$1)/' },
    },
    {
      name: 'nest-stays-in-modules',
      severity: 'error',
      from: {
        path: '^(libs|services|infra|test)/',
        pathNot: `(\\.module\\.ts|\\.controller\\.ts|main\\.ts)$|${tests}|^libs/host/`,
      },
      to: { path: 'node_modules/@nestjs/' },
    },
    {
      name: 'services-do-not-know-each-other',
      severity: 'error',
      from: { path: '^services/([^/]+)/', pathNot: '^services/all-in-one/' },
      to: { path: '^services/', pathNot: '^services/($1)/' },
    },
    {
      name: 'libs-do-not-know-services',
      severity: 'error',
      from: { path: '^libs/' },
      to: { path: '^(services|infra)/' },
    },
    {
      name: 'shipped-code-does-not-use-test-code',
      severity: 'error',
      from: { path: '^(libs/(?!testing)|services|infra)', pathNot: tests },
      to: { path: tests },
    },
    {
      name: 'services-and-libraries-do-without-the-test-library',
      severity: 'error',
      from: { path: '^(libs/(?!testing)|services)', pathNot: tests },
      to: { path: '^libs/testing/' },
    },
    {
      name: 'no-dead-files',
      comment:
        'Every file is reached from a program, or from a test; each package exports all of its files, so knip cannot tell.',
      severity: 'error',
      from: { path: programs },
      to: { path: '^(libs|services|infra|test)/', pathNot: `node_modules/|${programs}`, reachable: false },
    },
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.base.json' },
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)dist/|^test/fleet/projects/' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['@flotilla/source', 'import', 'node', 'types'],
    },
  },
};
