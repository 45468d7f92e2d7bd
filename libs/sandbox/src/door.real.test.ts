import fs from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectDocker } from './docker-engine.ts';
import type { DoorGrant, DoorRequest } from './door.ts';
import type { PoolFixture } from './sandbox.fixture.ts';
import { claim, openPool } from './sandbox.fixture.ts';

let fixture: PoolFixture;
let port: number;
const seen: DoorRequest[] = [];
const server = http.createServer((request, response) => response.end(`mirror says ${request.url}`));

beforeAll(async () => {
  fixture = await openPool();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(async () => {
  server.close();
  await fixture[Symbol.asyncDispose]();
});

function grant(): DoorGrant {
  const rule = `mirror.internal:${port}`;
  return {
    allow: [rule],
    privateAllowed: [rule],
    lookup: async () => ['127.0.0.1'],
    onRequest: (request) => seen.push(request),
  };
}

const fetchText = (url: string) => ({
  argv: [
    'node',
    '-e',
    `fetch(process.argv[1]).then(async (r) => console.log(r.status, await r.text())).catch((e) => console.log('failed', e.cause?.code ?? e.message))`,
    url,
  ],
});

test('a granted slot reaches the listed host, nothing else, and only through the door', async () => {
  await using slot = await fixture.pool.claim({ ...claim('setup'), door: grant() });
  expect((await slot.run(fetchText(`http://mirror.internal:${port}/package`))).output).toBe(
    '200 mirror says /package\n',
  );
  expect((await slot.run(fetchText('https://evil.example/'))).output).toContain('failed');
  const plain = (url: string) =>
    slot.run({
      argv: ['python3', '-c', 'import sys, urllib.request as u; print(u.urlopen(sys.argv[1]).read().decode())', url],
    });
  expect((await plain(`http://mirror.internal:${port}/plain`)).output).toBe('mirror says /plain\n');
  expect((await plain('http://evil.example/')).output).toContain('HTTP Error 403');
  expect(seen.map(({ host, verdict, method }) => [host, verdict, method])).toEqual([
    ['mirror.internal', 'allowed', 'CONNECT'],
    ['evil.example', 'refused', 'CONNECT'],
    ['mirror.internal', 'allowed', 'GET'],
    ['evil.example', 'refused', 'GET'],
  ]);
  const direct = await slot.run({
    shell: `timeout 2 bash -c 'exec 3<>/dev/tcp/203.0.113.80/443' 2>/dev/null || echo unreachable; ls /sys/class/net; touch /run/flotilla/x 2>/dev/null || echo read-only`,
  });
  expect(direct.output).toBe('unreachable\nlo\nread-only\n');
});

test("the forwarder is out of the sandbox user's reach and survives every kill", async () => {
  await using slot = await fixture.pool.claim({ ...claim('setup'), door: grant() });
  const attack = await slot.run({ shell: 'sleep 1000 & kill -9 $(pgrep -f flotilla-door); kill -9 -1; exit 0' });
  expect(attack.output).not.toContain('Killed');
  await slot.run({ shell: 'sleep 100' }, { timeoutMs: 200 });
  expect((await slot.run(fetchText(`http://mirror.internal:${port}/after`))).output).toBe('200 mirror says /after\n');
});

test('a slot without a grant has no door at all', async () => {
  await using slot = await fixture.pool.claim(claim());
  const result = await slot.run({
    shell: 'env | grep -i proxy; ls /run/flotilla; timeout 1 bash -c "exec 3<>/dev/tcp/127.0.0.1/3128" && echo open',
  });
  expect(result.output).not.toContain('proxy');
  expect(result.output).not.toContain('open\n');
});

test('the door closes with its slot', async () => {
  const slot = await fixture.pool.claim({ ...claim('setup'), door: grant() });
  await slot.destroy();
  expect(fixture.pool.available()).toBe(4);
});

test('a slot that gets no forwarder leaves no door open', async () => {
  const before = openDoors();
  const engine = connectDocker(process.env.DOCKER_HOST);
  const startExec = () => Promise.reject(new FlotillaError(errors.slotLost, { slot: 'x', reason: 'it ended' }));
  await using broken = await openPool({ engine: { ...engine, startExec } });
  await expect(broken.pool.claim({ ...claim('setup'), door: grant() })).rejects.toMatchObject({
    code: errors.doorRefused.code,
  });
  expect(openDoors()).toBe(before);
});

/** Sockets of doors that this process listens on, as the kernel tells them. */
function openDoors(): number {
  const mine = fs.readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return [/^socket:\[(\d+)\]$/.exec(fs.readlinkSync(`/proc/self/fd/${fd}`))?.[1]];
    } catch {
      return [];
    }
  });
  const all = fs.readFileSync('/proc/net/unix', 'utf8').split('\n');
  return all.filter((line) => line.endsWith('/door.sock') && mine.includes(line.split(/\s+/)[6])).length;
}
