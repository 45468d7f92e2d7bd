import { spawn } from 'node:child_process';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { repositoryDirectory } from '../repository.ts';
import { strayErrorsPath } from './keep-stray-errors.ts';
import { findFailures, findStrayFailures, type Failure, type StrayError, type TestReport } from './list-failures.ts';
import { splitSteps } from './split-steps.ts';

/** Projects of vitest.config.ts that need more than node; `check` runs the unit tests. */
export const testProjects = ['real', 'fleet'] as const;
export type TestProject = (typeof testProjects)[number] | 'unit';

export interface Tally {
  readonly suite: string;
  readonly passed: number;
  readonly failures: readonly Failure[];
  readonly seconds: number;
}

export interface SuiteOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly dataDirectory: string;
  readonly signal: AbortSignal;
}

const unitStep = 'test:unit';

/**
 * Runs each step of the one check command, also after one that failed. Its unit tests are counted one by one, and every
 * other step of it as one test together.
 */
export async function runCheck(options: SuiteOptions): Promise<Tally> {
  const began = performance.now();
  const report = join(options.dataDirectory, 'unit.json');
  const environment = { ...options.environment, FLOTILLA_TEST_REPORT: report };
  const broken: Failure[] = [];
  let unit: Awaited<ReturnType<typeof readResults>> = { passed: 0, failures: [] };
  for (const [program, ...args] of await readCheckSteps()) {
    const code = await runInherited(program, args, { ...options, environment });
    if (args.includes(unitStep)) unit = await readResults('check', code, report);
    else if (code !== 0)
      broken.push({ suite: 'check', name: [program, ...args].join(' '), message: `ended with exit code ${code}` });
  }
  return {
    suite: 'check',
    passed: unit.passed + (broken.length === 0 ? 1 : 0),
    failures: [...broken, ...unit.failures],
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
  return { suite: project, ...(await readResults(project, code, report)), seconds: secondsSince(began) };
}

async function readCheckSteps(): Promise<ReturnType<typeof splitSteps>> {
  const manifest = await readFile(join(repositoryDirectory, 'package.json'), 'utf8');
  // The manifest of this clone, which has the script.
  return splitSteps((JSON.parse(manifest) as { readonly scripts: { readonly check: string } }).scripts.check);
}

async function readResults(
  suite: string,
  code: number,
  reportPath: string,
): Promise<{ readonly passed: number; readonly failures: readonly Failure[] }> {
  // What the test runner's JSON reporter and our own one write.
  const report = (await readJson(reportPath)) as TestReport | undefined;
  const strays = ((await readJson(strayErrorsPath(reportPath))) ?? []) as readonly StrayError[];
  const found = [
    ...(report === undefined ? [] : findFailures(suite, report, repositoryDirectory)),
    ...findStrayFailures(suite, strays, repositoryDirectory),
  ];
  const unexplained = {
    suite,
    name: 'the test runner',
    message: `ended with exit code ${code}${report === undefined ? ' before it had written its report' : ''}`,
  };
  return {
    passed: report?.numPassedTests ?? 0,
    failures: code !== 0 && found.length === 0 ? [unexplained] : found,
  };
}

async function readJson(path: string): Promise<unknown> {
  const text = await readFile(path, 'utf8').catch(() => undefined);
  return text === undefined ? undefined : JSON.parse(text);
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
