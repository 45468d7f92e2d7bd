import { defineConfig } from 'vitest/config';
import { keepStrayErrors, strayErrorsPath } from './infra/dev/src/tests/keep-stray-errors.ts';

const conditions = ['@flotilla/source'];
const ignored = ['**/node_modules/**', '**/dist/**'];
const reportFile = process.env['FLOTILLA_TEST_REPORT'];

/**
 * `unit` needs nothing but node and git; `real` and `fleet` need the servers, the Docker engine and the compiled services that
 * the test command brings up.
 */
export default defineConfig({
  resolve: { conditions: [...conditions, 'module', 'node', 'development|production'] },
  ssr: { resolve: { conditions: [...conditions, 'node', 'default'] } },
  test: {
    // Where many programs share few cores anything may take long: a limit is for what would never come.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    ...(reportFile === undefined
      ? { reporters: ['default'] }
      : {
          reporters: ['default', 'json', keepStrayErrors(strayErrorsPath(reportFile))],
          outputFile: { json: reportFile },
        }),
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['{libs,services,infra}/**/src/**/*.test.ts', 'test/{architecture,chaos}/**/*.test.ts'],
          exclude: ['**/*.real.test.ts', ...ignored],
          // Much of a unit test is a wait for git: every core gets a worker, and a worker loads what files share once.
          maxWorkers: '100%',
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'real',
          include: ['{libs,services,infra}/**/src/**/*.real.test.ts'],
          exclude: ignored,
          maxWorkers: 2,
        },
      },
      {
        extends: true,
        test: {
          name: 'fleet',
          include: ['test/fleet/**/*.test.ts'],
          exclude: ['test/fleet/projects/*/**', ...ignored],
          // A fleet mostly waits: for containers, leases and time-outs.
          maxWorkers: 2,
        },
      },
    ],
  },
});
