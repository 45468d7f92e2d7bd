import { mkdtempSync, rmSync } from 'node:fs';
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

const fatal = (reason: string) =>
  JSON.stringify({ level: 'fatal', event: 'start_failed', code: 'ADDRESS_UNUSABLE', reason, advice: 'Free it.' });
const inUse = fatal('The gateway cannot listen on 127.0.0.1:7420: listen EADDRINUSE: address already in use');

/** A gateway of shell: it cannot have its first port, and is ready on the second. */
async function start(options: { readonly httpPort?: number; readonly end?: string }) {
  const ready = createServer((_, response) => response.end()).listen(0, '127.0.0.1');
  await new Promise((resolve) => ready.once('listening', resolve));
  // A TCP server has an address with a port.
  const readyUrl = `http://127.0.0.1:${(ready.address() as AddressInfo).port}/ready`;
  const describe = (url: string, script: string, at: string): DescribedServices => {
    const command = ['sh', '-c', script] as const;
    const service = { name: 'gateway', command, environment: {}, logFile: join(directory, 'log'), readyUrl: at };
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
  const first = describe('http://first', `echo '${options.end ?? inUse}' >&2; exit 1`, 'http://127.0.0.1:1/ready');
  const started = superviseOnFreePort(
    { dataDirectory: directory, report, signal: stopped.signal, httpPort: options.httpPort, onGivenUp },
    first,
    () => Promise.resolve(describe('http://second', 'exec sleep 60', readyUrl)),
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
  ['a port that was asked for', { httpPort: 7420 }],
  ['an address that cannot be had at all', { end: fatal('listen EADDRNOTAVAIL: address not available') }],
])('%s is not exchanged', async (_, options) => {
  const { url, givenUp } = await start(options);
  expect(url).toBeUndefined();
  expect(givenUp).toMatchObject([{ code: 'SERVICE_CANNOT_START' }]);
});
