import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { renderChecks } from '@flotilla/cli/text/render-checks';
import { dockerChecks } from './doctor/check-docker.ts';
import { machineChecks } from './doctor/check-machine.ts';
import { modelChecks } from './doctor/check-model.ts';
import { serverChecks } from './doctor/check-servers.ts';
import type { Check, CheckResult, DoctorContext } from './doctor/check.ts';
import { repositoryDirectory } from './repository.ts';
import { createReport, reportWhile } from './report.ts';
import { chooseSink } from './report-sinks.ts';

/** Everything that is checked, in the order in which it is told. */
export function doctorChecks(context: DoctorContext): readonly Check[] {
  return [...machineChecks(context), ...serverChecks(context), ...dockerChecks(context), ...modelChecks(context)];
}

/** Runs all checks at once. One that throws has failed; none changes anything that stays. */
export async function runDoctor(context: DoctorContext): Promise<readonly CheckResult[]> {
  return Promise.all(
    doctorChecks(context).map(async ({ id, title, run }) => {
      try {
        return { id, title, ...(await run()) };
      } catch (error) {
        const detail = error instanceof Error ? error.message : String(error);
        return {
          id,
          title,
          ok: false,
          detail,
          fix: 'This check could not be made; put right what it says and run it again.',
        };
      }
    }),
  );
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { json: { type: 'boolean', default: false }, data: { type: 'string' } } });
  const dataDirectory = resolve(values.data ?? `${repositoryDirectory}/.data/fleet`);
  const report = createReport(chooseSink(process.stderr, false));
  const results = await reportWhile(report, 'doctor', 'checking this machine', () =>
    runDoctor({ environment: process.env, dataDirectory }),
  );
  const ok = results.every((result) => result.ok);
  process.stdout.write(
    values.json ? `${JSON.stringify({ ok, checks: results }, undefined, 2)}\n` : `${renderChecks(results)}\n`,
  );
  process.exitCode = ok ? 0 : 1;
}

if (import.meta.main) await main();
