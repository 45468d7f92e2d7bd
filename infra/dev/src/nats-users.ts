import { LOCAL_USER, renderNatsAuthorization } from '@flotilla/contracts/principals';
import { serviceNames } from '@flotilla/contracts/services';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { z } from 'zod';
import { BrokerPassword, readPublishers, readSecretJson } from './fleet/read-publishers.ts';

const help = `Prints the users of the fleet for a NATS server of your own, to be included in its configuration.

  npm run --silent nats-users -- SERVICES [PUBLISHERS] > users.conf

  SERVICES     JSON file, mode 0600: a password by name for ${[...serviceNames, LOCAL_USER].join(', ')}
  PUBLISHERS   JSON file, mode 0600: a list of {"name", "password"}
`;

const Passwords = z.record(z.enum([...serviceNames, LOCAL_USER]), BrokerPassword);

const [servicesFile, publishersFile, ...rest] = process.argv.slice(2);
if (servicesFile === undefined || servicesFile === '--help' || rest.length > 0) {
  process.stderr.write(help);
  process.exitCode = servicesFile === '--help' ? 0 : 2;
} else {
  try {
    const passwords = await readSecretJson(servicesFile, Passwords);
    process.stdout.write(renderNatsAuthorization(passwords, await readPublishers(publishersFile)));
  } catch (error) {
    if (!(error instanceof FlotillaError)) throw error;
    process.stderr.write(`${error.message}. ${error.advice}\n`);
    process.exitCode = 1;
  }
}
