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
    ...(reportFile === undefined
      ? { reporters: ['default'] }
      : {
          reporters: ['default', 'json', keepStrayErrors(strayErrorsPath(reportFile))],
          outputFile: { json: reportFile },
        }),
    // A busy machine is slow, not wrong: what is polled for may take long.
    expect: { poll: { timeout: 20_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['{libs,services,infra}/**/src/**/*.test.ts', 'test/{architecture,chaos}/**/*.test.ts'],
          exclude: ['**/*.real.test.ts', ...ignored],
          testTimeout: 30_000,
          hookTimeout: 30_000,
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
          testTimeout: 120_000,
          hookTimeout: 180_000,
          maxWorkers: 2,
        },
      },
      {
        extends: true,
        test: {
          name: 'fleet',
          include: ['test/fleet/**/*.test.ts'],
          exclude: ['test/fleet/projects/*/**', ...ignored],
          testTimeout: 300_000,
          hookTimeout: 300_000,
          // A fleet mostly waits: for containers, leases and time-outs.
          maxWorkers: 2,
        },
      },
    ],
  },
});
