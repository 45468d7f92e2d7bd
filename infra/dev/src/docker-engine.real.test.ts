import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ensureDockerEngine } from './docker-engine.ts';
import { findCommand } from './find-command.ts';
import { silentReport } from './report.ts';
import { runCommand } from './run-command.ts';

const canStart = process.getuid?.() === 0 && (await findCommand('dockerd', process.env)) !== undefined;

let directory = '';
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'flotilla-engine-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

test('an engine that answers is taken as it is', async () => {
  expect(await ensureDockerEngine({ environment: process.env, report: silentReport })).toMatchObject({
    how: expect.stringMatching(/socket|environment/),
  });
});

/** Runs `ensureDockerEngine` in namespaces of its own, where no engine runs and none can be disturbed. */
async function runIsolated(prefix: string): Promise<string> {
  const module = fileURLToPath(new URL('docker-engine.ts', import.meta.url));
  const report = fileURLToPath(new URL('report.ts', import.meta.url));
  const program = join(directory, 'ensure.mjs');
  await writeFile(
    program,
    `const { ensureDockerEngine } = await import(${JSON.stringify(module)}); const { silentReport } = await import(${JSON.stringify(report)});
     const options = { environment: process.env, report: silentReport };
     for (const _ of [1, 2]) await ensureDockerEngine(options).then(({ how }) => console.log(how), (error) => console.log(error.code, error.message));`,
  );
  const script = `set -e; ip link set lo up; mkdir -p /var/lib/docker /var/lib/flotilla
    for each in /run /var/lib/docker /var/lib/flotilla; do mount -t tmpfs tmpfs $each; done
    ${prefix} ${process.execPath} --conditions=@flotilla/source ${program}; test ! -e /run/docker.pid || kill $(cat /run/docker.pid)`;
  const { DOCKER_HOST: _, ...environment } = process.env;
  const { stdout } = await runCommand(
    'unshare',
    ['--mount', '--net', '--pid', '--fork', '--kill-child', '--mount-proc', 'sh', '-c', script],
    { environment },
  );
  return stdout;
}

test.runIf(canStart)('an installed engine is started once and found running after', async () => {
  expect(await runIsolated('')).toBe('dockerd\nsocket\n');
});

test.runIf(canStart)('an engine that may not set up its bridge is an error that says so', async () => {
  expect(await runIsolated('setpriv --bounding-set=-net_admin --inh-caps=-net_admin')).toMatch(
    /^DOCKER_MISSING .*cannot set up its bridge network/,
  );
});
