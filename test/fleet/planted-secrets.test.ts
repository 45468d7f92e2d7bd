import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mkdir, writeFile } from 'node:fs/promises';
import { startOtlpReceiver, type OtlpReceiver } from '@flotilla/testing/otlp-receiver';
import { engineerScript } from '@flotilla/testing/scripted-model/engineer-script';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { passwordOf, serveGit, type GitServer } from './harness/serve-git.ts';
import { calculator, makeSmallRemote } from './harness/small-remote.ts';
import { describe as describeEntries, payloadOf, startTestFleet, type TestFleet } from './harness/test-fleet.ts';

const modelKey = 'sk-canary-model-5f2b9c71d0';
const remoteToken = 'ghp-canary-remote-8a41e6b3f7';
const environmentDump = 'slot-environment.txt';
let fleet: TestFleet;
let telemetry: OtlpReceiver;
let git: GitServer;
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'flotilla-secrets-'));
  telemetry = await startOtlpReceiver();
  fleet = await startTestFleet({
    modelKey,
    script: engineerScript({
      edits: [calculator.edit],
      // What a container holds is part of what the model and the log get to see.
      commands: [
        `env > ${environmentDump}; cat /proc/1/environ /proc/self/environ | tr '\\0' '\\n'; git config --list; ls -la / /run /home`,
      ],
    }),
    settings: { OTEL_EXPORTER_OTLP_ENDPOINT: telemetry.url, FLOTILLA_LOG_LEVEL: 'debug' },
  });
});

afterAll(async () => {
  await fleet.close();
  await telemetry.close();
  await git.close();
  await rm(directory, { recursive: true, force: true });
});

test('the model key and the remote token appear in no row, event, log line, span, diff, prompt or container', async () => {
  await makeSmallRemote(directory, 'secret', calculator.files);
  git = await serveGit(
    directory,
    (authorization) => authorization === `Bearer ${remoteToken}` || passwordOf(authorization) === remoteToken,
  );
  const credentials = join(fleet.fleet.dataDirectory, 'credentials');
  await mkdir(credentials, { recursive: true, mode: 0o700 });
  const host = `127.0.0.1:${git.port}`;
  await writeFile(
    join(credentials, 'secret.json'),
    JSON.stringify({ kind: 'token', host: '127.0.0.1', token: remoteToken }),
    {
      mode: 0o600,
    },
  );
  await fleet.addProject('secret', `http://${host}/secret.git`, { credential: 'secret' });

  const run = await fleet.submit('secret', calculator.goal);
  const log = await fleet.finish(run);
  expect(payloadOf<{ result: string }>(log, 'run.ended').result, describeEntries(log)).toBe('landed');
  expect(JSON.stringify(log)).toContain('PATH=');

  const { diff } = await fleet.client.call('showDiff', { runId: run });
  expect(diff).toContain(environmentDump);
  const places: Readonly<Record<string, string>> = {
    log: JSON.stringify(log),
    database: await dumpDatabase(fleet.fleet.databaseUrl),
    'log lines': fleet.logLines.join('\n'),
    'log files': await readAll(fleet.fleet.logsDirectory),
    telemetry: telemetry.bodies.join('\n'),
    prompts: fleet.model.requests.map(({ text }) => text).join('\n'),
    diff,
  };
  expect(places['database']).toContain('flow.log');
  expect(fleet.model.requests[0]?.headers.authorization).toBe(`Bearer ${modelKey}`);
  for (const [place, text] of Object.entries(places)) {
    expect(text.length, place).toBeGreaterThan(0);
    for (const secret of [modelKey, remoteToken]) {
      expect(text.includes(secret), `${secret} in ${place}`).toBe(false);
      expect(
        text.includes(Buffer.from(secret).toString('base64').replace(/=+$/, '').slice(0, -2)),
        `${secret} as base64 in ${place}`,
      ).toBe(false);
    }
  }
});

async function readAll(path: string): Promise<string> {
  const names = await readdir(path);
  return (await Promise.all(names.map((name) => readFile(join(path, name), 'utf8')))).join('\n');
}

/** Every row of every table that is ours, as text. */
async function dumpDatabase(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const tables = await client.query<{ name: string }>(
    "select format('%I.%I', table_schema, table_name) as name from information_schema.tables where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')",
  );
  const rows: string[] = [];
  for (const { name } of tables.rows) {
    const { rows: found } = await client.query<{ row: string }>(`select row_to_json(t)::text as row from ${name} t`);
    rows.push(name, ...found.map(({ row }) => row));
  }
  await client.end();
  return rows.join('\n');
}
