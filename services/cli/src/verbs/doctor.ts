import { spawn } from 'node:child_process';
import { access } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ListRuns } from '@flotilla/contracts/calls/list-runs';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import type { Session } from '../session.ts';
import type { Verb } from '../verb.ts';

export const doctor: Verb = {
  name: 'doctor',
  summary: 'check this machine and the fleet, and say what to do about each failure',
  arguments: [],
  options: [],
  examples: [
    { command: 'flotilla doctor', summary: 'inside the clone it also checks servers, Docker and the sandbox image' },
  ],
  calls: ['listRuns'],
  run: async (_, session) => {
    const script = await findDoctor();
    if (script === undefined) session.note('not in a clone of the fleet, so only the way to it is checked');
    const machine = script === undefined ? exitCodes.done.code : await runDoctor(script, session);
    if (session.json && script !== undefined) return machine;
    const { url } = await session.fleet();
    await (await session.api()).call(ListRuns, { limit: 1 });
    session.out(session.json ? JSON.stringify({ ok: true, url }) : `✓ the fleet at ${url} answers and takes the token`);
    return machine;
  },
};

/** The doctor of the clone that this command line is part of. */
async function findDoctor(): Promise<string | undefined> {
  const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..', '..');
  const script = join(root, 'infra', 'dev', 'dist', 'doctor.js');
  return access(script).then(
    () => script,
    () => undefined,
  );
}

function runDoctor(script: string, { json, signal }: Session): Promise<ExitCode> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [script, ...(json ? ['--json'] : [])], { stdio: 'inherit', signal });
    child.once('error', reject);
    child.once('exit', (code) => resolve(code === 0 ? exitCodes.done.code : exitCodes.failed.code));
  });
}
