import { spawn } from 'node:child_process';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { repositoryDirectory } from '../repository.ts';

/** Projects of vitest.config.ts that need more than node; `check` runs the unit tests. */
export const testProjects = ['real', 'fleet'] as const;
export type TestProject = (typeof testProjects)[number] | 'unit';

export interface Tally {
  readonly suite: string;
  readonly passed: number;
  readonly failed: number;
  readonly seconds: number;
}

export interface SuiteOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly dataDirectory: string;
  readonly signal: AbortSignal;
}

/** Runs the one check command. Its unit tests are counted one by one, and every other part of it as one test together. */
export async function runCheck(options: SuiteOptions): Promise<Tally> {
  const began = performance.now();
  const report = join(options.dataDirectory, 'unit.json');
  const code = await runInherited('npm', ['run', '--silent', 'check'], {
    ...options,
    environment: { ...options.environment, FLOTILLA_TEST_REPORT: report },
  });
  const unit = await readReport(report);
  const whole = code === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
  return {
    suite: 'check',
    passed: unit.passed + whole.passed,
    failed: Math.max(unit.failed, whole.failed),
    seconds: secondsSince(began),
  };
}

/** Runs one project of the test runner. A run that ends badly without a failed test counts as one failure. */
export async function runProject(project: TestProject, options: SuiteOptions): Promise<Tally> {
  const began = performance.now();
  const report = join(options.dataDirectory, `${project}.json`);
  const vitest = join(repositoryDirectory, 'node_modules/vitest/vitest.mjs');
  const environment = { ...options.environment, FLOTILLA_TEST_REPORT: report };
  const code = await runInherited(process.execPath, [vitest, 'run', '--project', project], { ...options, environment });
  const { passed, failed } = await readReport(report);
  return { suite: project, passed, failed: code === 0 ? failed : Math.max(failed, 1), seconds: secondsSince(began) };
}

async function readReport(path: string): Promise<{ readonly passed: number; readonly failed: number }> {
  const text = await readFile(path, 'utf8').catch(() => undefined);
  if (text === undefined) return { passed: 0, failed: 0 };
  // The format of the test runner's JSON reporter.
  const { numPassedTests, numFailedTests } = JSON.parse(text) as {
    readonly numPassedTests: number;
    readonly numFailedTests: number;
  };
  return { passed: numPassedTests, failed: numFailedTests };
}

async function runInherited(
  command: string,
  args: readonly string[],
  { environment, dataDirectory, signal }: SuiteOptions,
): Promise<number> {
  signal.throwIfAborted();
  await mkdir(dataDirectory, { recursive: true });
  const child = spawn(command, [...args], {
    cwd: repositoryDirectory,
    env: { ...environment },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const end = (): boolean => child.kill('SIGINT');
  signal.addEventListener('abort', end, { once: true });
  const code = await new Promise<number>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (exitCode) => resolve(exitCode ?? 1));
  });
  signal.removeEventListener('abort', end);
  signal.throwIfAborted();
  return code;
}

function secondsSince(began: number): number {
  return Math.round((performance.now() - began) / 1_000);
}
