import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { chooseSink } from './report-sinks.ts';
import { createReport } from './report.ts';
import { repositoryDirectory } from './repository.ts';
import { ensureTestMachine } from './tests/ensure-test-machine.ts';
import { listFailures } from './tests/list-failures.ts';
import { runCheck, runProject, testProjects, type Tally } from './tests/run-suites.ts';

const help = `Brings up what the tests need on this machine and runs all of them.

  npm test -- [--only check,unit,real,fleet] [--help]

  check   format, types, lint, boundaries, dead code, unit tests, generated files: the same as npm run check
  real    adapters and services against real servers, real git and real containers
  fleet   whole fleets: stories, crashes, ordinary projects
`;

const { values } = parseArgs({ options: { only: { type: 'string' }, help: { type: 'boolean', short: 'h' } } });
if (values.help === true) process.stdout.write(help);
else process.exitCode = await run(values.only?.split(',') ?? ['check', ...testProjects]);

async function run(suites: readonly string[]): Promise<number> {
  const began = performance.now();
  const report = createReport(chooseSink(process.stdout, false));
  const stopped = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => stopped.abort(new Error(`stopped by ${signal}`)));
  const dataDirectory = join(repositoryDirectory, '.data', `test-${process.pid}`);
  const tallies: Tally[] = [];
  try {
    const machine = await ensureTestMachine({
      dataDirectory,
      report,
      signal: stopped.signal,
      environment: process.env,
    });
    try {
      if (suites.includes('check'))
        tallies.push(await runCheck({ environment: machine.environment, dataDirectory, signal: stopped.signal }));
      for (const project of testProjects) {
        if (suites.includes(project))
          tallies.push(
            await runProject(project, { environment: machine.environment, dataDirectory, signal: stopped.signal }),
          );
      }
    } finally {
      await machine.stop();
    }
  } catch (error) {
    process.stderr.write(`${error instanceof FlotillaError ? `${error.message}. ${error.advice}` : String(error)}\n`);
    return 1;
  }
  const passed = tallies.reduce((sum, tally) => sum + tally.passed, 0);
  const failures = tallies.flatMap((tally) => tally.failures);
  for (const { suite, passed: good, failures: bad, seconds } of tallies)
    process.stdout.write(`${suite}: ${good} passed, ${bad.length} failed, ${seconds} s\n`);
  process.stdout.write(
    `everything took ${Math.round((performance.now() - began) / 1_000)} s\n${passed} passed, ${failures.length} failed\n${listFailures(failures)}`,
  );
  return failures.length === 0 ? 0 : 1;
}
