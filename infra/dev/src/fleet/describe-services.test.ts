import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { silentReport } from '../report.ts';
import type { RunningServer } from '../servers.ts';
import { describeServices } from './describe-services.ts';
import { keepFleetSecrets } from './fleet-secrets.ts';
import type { HostRegistries } from './host-registries.ts';

let directory = '';
beforeEach(() => void (directory = mkdtempSync(join(tmpdir(), 'flotilla-describe-'))));
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const server = (url: string): RunningServer => ({ url, how: 'program', version: '1.0.0', stop: async () => undefined });

/** What the executor of a fleet is started with on a machine whose npm goes to a registry of its own. */
async function environmentOfExecutor(
  environment: Readonly<Record<string, string>>,
  pip: Pick<HostRegistries, 'pip' | 'pipFilesHost'> = { pip: undefined },
) {
  const { list } = await describeServices(
    {
      dataDirectory: directory,
      report: silentReport,
      signal: new AbortController().signal,
      environment,
      httpPort: 0,
      onGivenUp: () => undefined,
    },
    {
      secrets: await keepFleetSecrets(directory),
      servers: {
        nats: server('nats://127.0.0.1:1'),
        redis: server('redis://127.0.0.1:1'),
        postgres: server('postgres://127.0.0.1:1/flotilla'),
        stop: async () => undefined,
      },
      sandbox: { image: 'flotilla/sandbox:1', dockerHost: 'unix:///var/run/docker.sock' },
      registries: { npm: 'https://machine.example.com/', ...pip, certificatesFile: '/machine.pem' },
    },
  );
  return list.find(({ name }) => name === 'executor')?.environment;
}

test('setup goes where the package managers of this machine go', async () => {
  expect(await environmentOfExecutor({})).toMatchObject({
    FLOTILLA_NPM_REGISTRY: 'https://machine.example.com/',
    FLOTILLA_CERTIFICATES_FILE: '/machine.pem',
  });
});

test('what the operator set counts before what the machine is configured with', async () => {
  const set = {
    FLOTILLA_NPM_REGISTRY: 'https://operator.example.com/',
    FLOTILLA_PIP_INDEX: 'https://operator.example.com/simple',
    FLOTILLA_CERTIFICATES_FILE: '/operator.pem',
  };
  expect(await environmentOfExecutor(set)).toMatchObject(set);
});

test('an empty variable counts as not set', async () => {
  expect(await environmentOfExecutor({ FLOTILLA_NPM_REGISTRY: '' })).toMatchObject({
    FLOTILLA_NPM_REGISTRY: 'https://machine.example.com/',
  });
});

test('the door lets pip to the index of this machine and to its files, besides what the operator listed', async () => {
  const pip = { pip: 'https://index.example.com/simple', pipFilesHost: 'files.example.com' };
  expect(await environmentOfExecutor({}, pip)).toMatchObject({
    FLOTILLA_PIP_INDEX: 'https://index.example.com/simple',
    FLOTILLA_DOOR_HOSTS: 'files.example.com',
  });
  expect(await environmentOfExecutor({ FLOTILLA_DOOR_HOSTS: 'git.example.com' }, pip)).toMatchObject({
    FLOTILLA_DOOR_HOSTS: 'git.example.com,files.example.com',
  });
  const own = { FLOTILLA_PIP_INDEX: 'https://operator.example.com/simple', FLOTILLA_DOOR_HOSTS: 'git.example.com' };
  expect(await environmentOfExecutor(own, pip)).toMatchObject(own);
});
