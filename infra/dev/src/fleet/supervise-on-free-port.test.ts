import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FlotillaError } from '@flotilla/errors/flotilla-error';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Report } from '../report.ts';
import { silentReport } from '../report.ts';
import type { DescribedServices } from './describe-services.ts';
import { superviseOnFreePort } from './supervise-on-free-port.ts';

let directory = '';
beforeEach(() => void (directory = mkdtempSync(join(tmpdir(), 'flotilla-port-'))));
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const fatal = (reason: string, code = 'ADDRESS_UNUSABLE') =>
  JSON.stringify({ level: 'fatal', event: 'start_failed', code, reason, advice: 'Free it.' });
const inUse = fatal('The gateway cannot listen on 127.0.0.1:7420: listen EADDRINUSE: address already in use');

const healthInUse = fatal('listen EADDRINUSE: address already in use 127.0.0.1:9', 'HEALTH_ADDRESS_UNUSABLE');

/** A gateway of shell: it cannot have its first port, where another program says that it is ready, and is ready on the second. */
async function start(options: { readonly httpPort?: number; readonly end?: string }) {
  const pidFile = join(directory, 'pid');
  const readPid = () => (existsSync(pidFile) ? Number(readFileSync(pidFile, 'utf8')) : process.pid);
  const ready = createServer((_, response) => response.end(JSON.stringify({ pid: readPid() }))).listen(0, '127.0.0.1');
  await new Promise((resolve) => ready.once('listening', resolve));
  // A TCP server has an address with a port.
  const readyUrl = `http://127.0.0.1:${(ready.address() as AddressInfo).port}/ready`;
  const describe = (url: string, script: string): DescribedServices => {
    const command = ['sh', '-c', script] as const;
    const service = { name: 'gateway', command, environment: {}, logFile: join(directory, 'log'), readyUrl };
    return { url, list: [service], installation: 'i', brokerUrlOf: () => '' };
  };
  const stopped = new AbortController();
  const givenUp: FlotillaError[] = [];
  const said: string[] = [];
  const report: Report = { ...silentReport, warn: (_, text) => void said.push(text) };
  const onGivenUp = (error: FlotillaError) => {
    givenUp.push(error);
    stopped.abort(error);
  };
  const first = describe('http://first', `sleep 0.3; echo '${options.end ?? inUse}' >&2; exit 1`);
  const started = superviseOnFreePort(
    { dataDirectory: directory, report, signal: stopped.signal, httpPort: options.httpPort, onGivenUp },
    first,
    () => Promise.resolve(describe('http://second', `echo $$ >'${pidFile}'; exec sleep 60`)),
  );
  try {
    const result = await started;
    await result.supervised.stop();
    return { url: result.url, givenUp, said };
  } catch {
    return { url: undefined, givenUp, said };
  } finally {
    ready.close();
  }
}

test('a port that was taken since it was chosen, and that nobody asked for, is exchanged for another, which is told', async () => {
  const { url, givenUp, said } = await start({});
  expect(url).toBe('http://second');
  expect(givenUp).toEqual([]);
  expect(said).toEqual(['another program took http://first meanwhile; the gateway gets http://second']);
});

test.each([
  ['that may have any port', {}],
  ['whose own port was asked for', { httpPort: 7420 }],
])('a health port that was taken is exchanged in a fleet %s, which stays', async (_, options) => {
  const { url, givenUp, said } = await start({ ...options, end: healthInUse });
  expect({ url, givenUp }).toEqual({ url: 'http://second', givenUp: [] });
  expect(said).toEqual(['another program took a port of the services meanwhile; they are started again on others']);
  expect(existsSync(join(directory, 'http.port'))).toBe(false);
});

test.each([
  ['a port that was asked for', { httpPort: 7420 }],
  ['an address that cannot be had at all', { end: fatal('listen EADDRNOTAVAIL: address not available') }],
])('%s is not exchanged', async (_, options) => {
  const { url, givenUp } = await start(options);
  expect(url).toBeUndefined();
  expect(givenUp).toMatchObject([{ code: 'SERVICE_CANNOT_START' }]);
});
