import { canInstallPackages } from '../machine/debian-packages.ts';
import { lookAtCompose } from './compose.ts';
import { findEmbeddedPostgres, findPrograms } from './programs.ts';
import { readDataVersion } from './run-postgres.ts';
import { chooseSource, urlVariables } from './source.ts';
import type { ServerFacts, ServerName, ServerSource } from './source.ts';

export interface SourceQuery {
  readonly server: ServerName;
  readonly dataDirectory: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal | undefined;
}

/** Where a server would come from on this machine now. Looks at a registry only when nothing nearer has it. */
export async function findSource(query: SourceQuery): Promise<Exclude<ServerSource, { kind: 'look_at_compose' }>> {
  const facts = await gatherFacts(query);
  const first = chooseSource(facts);
  if (first.kind !== 'look_at_compose') return first;
  const second = chooseSource({ ...facts, compose: await lookAtCompose(query) });
  if (second.kind === 'look_at_compose') throw new Error(`${query.server}: compose was looked at`);
  return second;
}

async function gatherFacts({ server, dataDirectory, environment }: SourceQuery): Promise<ServerFacts> {
  const url = environment[urlVariables[server]];
  if (url !== undefined && url !== '') {
    return {
      server,
      url,
      programs: [],
      embedded: undefined,
      dataVersion: undefined,
      compose: undefined,
      canInstall: false,
    };
  }
  const [programs, embedded, dataVersion, canInstall] = await Promise.all([
    findPrograms(server, environment),
    server === 'postgres' ? findEmbeddedPostgres() : undefined,
    server === 'postgres' ? readDataVersion(dataDirectory) : undefined,
    canInstallPackages(),
  ]);
  return { server, url: undefined, programs, embedded, dataVersion, compose: undefined, canInstall };
}
