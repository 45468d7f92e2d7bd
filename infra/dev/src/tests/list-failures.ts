import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

/** One thing that failed: a test, a whole file, or a step of a suite. */
export interface Failure {
  readonly suite: string;
  /** Relative to the clone; absent where no file is known. */
  readonly file?: string;
  readonly name: string;
  readonly message: string;
}

/** What is read of the report that the test runner's JSON reporter writes. */
export interface TestReport {
  readonly numPassedTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

/** An error that no test caught. */
export interface StrayError {
  readonly message: string;
  readonly file?: string | undefined;
}

/** Frames of the test runner and of the language. */
const notOurs = /^\s+at .*(node_modules\/|<anonymous>|node:internal)/;
const shownLines = 6;
const shownFailures = 50;

/** The failed tests of a report, and the files that failed without a failed test: they could not be loaded, or a hook failed. */
export function findFailures(suite: string, report: TestReport, clone: string): readonly Failure[] {
  return report.testResults.flatMap(({ name: path, status, message, assertionResults }) => {
    const file = relative(clone, path);
    const tests = assertionResults
      .filter((test) => test.status === 'failed')
      .map((test) => ({ suite, file, name: test.fullName, message: test.failureMessages.join('\n') }));
    const whole = message !== '' || (status === 'failed' && tests.length === 0);
    return whole ? [{ suite, file, name: 'the file as a whole', message }, ...tests] : tests;
  });
}

export function findStrayFailures(suite: string, errors: readonly StrayError[], clone: string): readonly Failure[] {
  return errors.map(({ message, file }) => ({
    suite,
    ...(file === undefined ? {} : { file: relative(clone, file) }),
    name: 'an error that no test caught',
    message,
  }));
}

/** The list for the end of the output: where, which and the beginning of what was said. Empty where nothing failed. */
export function listFailures(failures: readonly Failure[]): string {
  const shown = failures.slice(0, shownFailures).flatMap(({ suite, file, name, message }) => {
    const said = stripVTControlCharacters(message)
      .split('\n')
      .filter((line) => line.trim() !== '' && !notOurs.test(line))
      .slice(0, shownLines);
    return [`FAILED ${[suite, file, name].filter(Boolean).join(' > ')}`, ...said.map((line) => `    ${line}`)];
  });
  const left = failures.length - shownFailures;
  return [...shown, ...(left > 0 ? [`and ${left} more failed`] : [])].map((line) => `${line}\n`).join('');
}
