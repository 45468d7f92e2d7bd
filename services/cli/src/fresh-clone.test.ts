import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, globSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));
let clone = '';

/** The clone as it is after its packages were installed: nothing that a build leaves. */
beforeAll(() => {
  clone = mkdtempSync(join(tmpdir(), 'flotilla-clone-'));
  const installed = join(clone, 'node_modules');
  mkdirSync(join(installed, '@flotilla'), { recursive: true });
  for (const name of readdirSync(join(root, 'node_modules')))
    if (name !== '@flotilla') symlinkSync(join(root, 'node_modules', name), join(installed, name));
  cpSync(join(root, 'package.json'), join(clone, 'package.json'));
  for (const manifest of globSync(['libs/*/package.json', 'services/*/package.json', 'infra/dev/package.json'], {
    cwd: root,
  })) {
    const path = dirname(manifest);
    cpSync(join(root, path), join(clone, path), {
      recursive: true,
      filter: (source) => !['dist', 'node_modules'].includes(basename(source)),
    });
    symlinkSync(join(clone, path), join(installed, '@flotilla', basename(path)));
  }
});
afterAll(() => rmSync(clone, { recursive: true, force: true }));

function flotilla(...argv: readonly string[]) {
  return spawnSync(process.execPath, [join(clone, 'services/cli/bin/flotilla.mjs'), ...argv], {
    cwd: clone,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], XDG_CONFIG_HOME: clone, DOCKER_HOST: 'tcp://127.0.0.1:1' },
  });
}

test('in a clone that was never built the command line runs, and its arguments and exit code go through', () => {
  expect(existsSync(join(clone, 'services/cli/dist'))).toBe(false);
  const help = flotilla('--help');
  expect(help.stderr).toBe('');
  expect(help.stdout).toContain('submit');
  expect(flotilla('list').stderr).toContain('FLEET_NOT_FOUND');
  expect(flotilla('list', '--nonsense').status).toBe(2);
});

test('in a clone that was never built the doctor examines the machine', () => {
  const { checks } = JSON.parse(flotilla('doctor', '--json').stdout) as { checks: { id: string; note?: boolean }[] };
  expect(checks.map(({ id }) => id)).toEqual(expect.arrayContaining(['git.version', 'server.nats', 'docker.engine']));
  expect(checks.at(-1)).toMatchObject({ id: 'fleet.answers', note: true });
});

test.each(['20.0.0', '22.19.0', '24.10.0'])(
  'Node %s hands over to the one that the clone brings, and where it brings none says which is needed',
  (version) => {
    const older = `data:text/javascript,Object.defineProperty(process.versions,"node",{value:"${version}"})`;
    const start = (bin: string) =>
      spawnSync(process.execPath, ['--import', older, bin, '--help'], { cwd: clone, encoding: 'utf8' });
    const bin = join(clone, 'services/cli/bin/flotilla.mjs');
    expect(start(bin).stdout).toContain('submit');
    const alone = join(clone, 'alone/services/cli/bin/flotilla.mjs');
    cpSync(bin, alone);
    expect(start(alone)).toMatchObject({ status: 1, stderr: expect.stringContaining(`this is Node ${version}`) });
    expect(start(alone).stderr).toContain('install Node 24.11 or newer');
  },
);
