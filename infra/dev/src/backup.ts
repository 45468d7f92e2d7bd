import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { backUp, restore } from './backup/back-up.ts';

const help = `Copies the database and the object store of a fleet, which may run meanwhile, or brings them back into empty servers.

  npm run backup -- DIR     into DIR, which must not be there
  npm run restore -- DIR    before any service is started

DATABASE_URL and NATS_URL name the servers; pg_dump and pg_restore do the database. infra/guide/backup.md says what else to keep.
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { help: { type: 'boolean', short: 'h' } },
});
const [task, directory] = positionals;
const { DATABASE_URL: databaseUrl, NATS_URL: natsUrl } = process.env;
if (values.help === true || directory === undefined || !databaseUrl || !natsUrl) {
  process.stdout.write(help);
  process.exitCode = values.help === true ? 0 : 2;
} else process.exitCode = await run({ directory: resolve(directory), databaseUrl, natsUrl, environment: process.env });

async function run(options: Parameters<typeof backUp>[0]): Promise<number> {
  try {
    const { objects } = await (task === 'restore' ? restore : backUp)(options);
    process.stdout.write(`${task === 'restore' ? 'restored' : 'saved'} the database and ${objects} objects\n`);
    return 0;
  } catch (error) {
    const told = error instanceof FlotillaError ? `${error.message}. ${error.advice}` : String(error);
    process.stderr.write(`${told}\n`);
    return 1;
  }
}
