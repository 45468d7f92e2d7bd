import { spawn } from 'node:child_process';
import { access } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { z } from 'zod';
import { exitCodes } from '../exit-codes.ts';
import { checkFleet, failedCheck } from '../fleet/check-fleet.ts';
import { report, type Session } from '../session.ts';
import { type CheckResult, renderChecks } from '../text/render-checks.ts';
import type { Verb } from '../verb.ts';

/** The verb, with where the doctor of a clone is looked for. */
export function createDoctor(findScript: () => Promise<string | undefined>): Verb {
  return {
    name: 'doctor',
    summary: 'check this machine and the fleet, and say what to do about each failure',
    arguments: [],
    options: [],
    examples: [
      { command: 'flotilla doctor', summary: 'inside the clone it also checks servers, Docker and the sandbox image' },
    ],
    json: '{"checks": [{"id", "title", "ok", "detail", "fix"?, "note"?}]}',
    calls: ['listRuns', 'listDead'],
    run: async (_, session) => {
      const script = await findScript();
      if (script === undefined) session.note('not in a clone of the fleet, so only the way to it is checked');
      const data = await session.fleet().then(
        ({ local }) => local?.dataDirectory,
        () => undefined,
      );
      const [machine, fleet] = await Promise.all([
        script === undefined ? [] : examineMachine(script, data, session),
        examineFleet(session, script !== undefined),
      ]);
      const checks = [...machine, ...fleet];
      const ok = checks.every((check) => check.ok);
      report(session, { ok, checks }, () => renderChecks(checks));
      return ok ? exitCodes.done.code : exitCodes.failed.code;
    },
  };
}

export const doctor = createDoctor(async () => {
  const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..', '..');
  const script = join(root, 'infra', 'dev', 'src', 'doctor.ts');
  return access(script).then(
    () => script,
    () => undefined,
  );
});

/** In a clone a fleet that was not started yet is no failure: nobody named one. */
async function examineFleet(session: Session, inClone: boolean): Promise<readonly CheckResult[]> {
  try {
    return await checkFleet(await session.api());
  } catch (error) {
    if (!(error instanceof FlotillaError)) throw error;
    const unstarted = error.is(errors.fleetNotFound) || error.is(errors.fleetElsewhere);
    if (inClone && unstarted)
      return [
        {
          id: 'fleet.answers',
          title: 'fleet',
          ok: true,
          note: true,
          detail: error.message,
          fix: 'Start it with "npm start".',
        },
      ];
    return [failedCheck('fleet.answers', 'fleet', error)];
  }
}

const Report = z.object({
  checks: z.array(
    z.object({
      id: z.string(),
      title: z.string(),
      ok: z.boolean(),
      note: z.boolean().optional(),
      detail: z.string(),
      fix: z.string().optional(),
    }),
  ),
});

/** What the doctor of the clone says of the machine; one that says nothing is a failed check itself. */
async function examineMachine(
  script: string,
  data: string | undefined,
  session: Session,
): Promise<readonly CheckResult[]> {
  const { output, code } = await runScript(
    [
      '--disable-warning=ExperimentalWarning',
      '--conditions=@flotilla/source',
      script,
      '--json',
      ...(data === undefined ? [] : ['--data', data]),
    ],
    session,
  );
  try {
    return Report.parse(JSON.parse(output)).checks;
  } catch {
    const detail = `the doctor of the clone ended with ${code ?? 'a signal'} and no report`;
    return [{ id: 'machine', title: 'machine', ok: false, detail, fix: 'Run "npm ci" in it.' }];
  }
}

function runScript(
  argv: readonly string[],
  { signal }: Session,
): Promise<{ readonly output: string; readonly code: number | null }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'], signal });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
    child.once('error', reject);
    child.once('close', (code) => resolve({ output, code }));
  });
}
