import Dockerode from 'dockerode';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { beforeAll, expect, test } from 'vitest';
import { runConfined } from './doctor/run-confined.ts';
import { silentReport } from './report.ts';
import { ensureSandboxImage } from './sandbox-image.ts';
import { pullImage } from './sandbox-image/registry-base.ts';

const docker = new Dockerode();
let image = '';
beforeAll(async () => {
  ({ image } = await ensureSandboxImage({ docker, report: silentReport }));
}, 600_000);

test('an image that is there is found within 200 ms', async () => {
  const began = performance.now();
  expect(await ensureSandboxImage({ docker, report: silentReport })).toEqual({ image, how: 'cached' });
  expect(performance.now() - began).toBeLessThan(200);
});

test('the image has what agents and setups call, and a /tmp for everybody', async () => {
  const script = [
    'set -e',
    'git --version; node --version; npm --version; python3 -m pip --version; python3 -c "import venv, ensurepip"; rg --version; make --version; patch --version; ps --version',
    'test "$(stat -c %a /tmp)" = 1777; test "$(id -u):$HOME" = 1000:/home/agent',
  ].join('\n');
  const { code, output } = await runConfined(docker, { image, script, mounts: [] });
  expect({ code, output }).toMatchObject({ code: 0, output: expect.stringMatching(/^v24\./m) });
});

test('the door in the image carries bytes both ways between a loopback port and a unix socket', async () => {
  const script = `
    cat > /dev/shm/echo.js <<'END'
    require('net').createServer({ allowHalfOpen: true }, (c) => { let t = ''; c.on('data', (d) => (t += d)); c.on('end', () => c.end(t.toUpperCase())); }).listen('/dev/shm/door');
END
    node /dev/shm/echo.js &
    until test -S /dev/shm/door; do sleep 0.05; done
    flotilla-door /dev/shm/door 3128 > /dev/shm/log &
    until grep -q 'listening on 127.0.0.1:3128' /dev/shm/log; do sleep 0.05; done
    node -e "const c = require('net').connect(3128, '127.0.0.1'); c.end('through the door'); c.pipe(process.stdout)"`;
  const { output } = await runConfined(docker, { image, script, mounts: [] });
  expect(output).toBe('THROUGH THE DOOR');
});

test('a registry that says nothing is given up', async () => {
  const silent = createServer(() => undefined).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const activity = silentReport.begin('pull', '');
  const result = await pullImage({ docker, image: `127.0.0.1:${port}/none:1`, activity, answerWithinMs: 500 });
  expect(result).toEqual({ kind: 'unavailable', reason: 'no registry answered within 0.5 s' });
  silent.close();
});
