import { writeFile } from 'node:fs/promises';
import type { Reporter } from 'vitest/node';
import type { StrayError } from './list-failures.ts';

/** A reporter that keeps the errors that no test caught, which fail a run and which the JSON report leaves out. */
export function keepStrayErrors(path: string): Reporter {
  return {
    async onTestRunEnd(_, errors) {
      const strays: readonly StrayError[] = errors.map((error) => ({
        message: error.stack ?? error.message,
        file: typeof error['VITEST_TEST_PATH'] === 'string' ? error['VITEST_TEST_PATH'] : undefined,
      }));
      await writeFile(path, JSON.stringify(strays));
    },
  };
}

/** Beside a report of the test runner. */
export function strayErrorsPath(reportPath: string): string {
  return `${reportPath}.stray-errors`;
}
