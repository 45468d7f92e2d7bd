import type { RunId } from '@flotilla/contracts/ids';
import type { Queries } from './queries.ts';

export interface EntryToFind {
  readonly runId: RunId;
  readonly types: readonly string[];
}

/** Whether the log of each run has an entry of one of its types. */
export async function findEntries(store: Queries, wanted: readonly EntryToFind[]): Promise<readonly boolean[]> {
  const flat = wanted.flatMap(({ types }, place) => types.map((type) => ({ place, type })));
  const rows = await store.query<{ place: number }>(
    `select place from unnest($1::integer[], $2::text[], $3::text[]) as given (place, run, type)
      where exists (select 1 from flow.log where log.run = given.run and log.type = given.type)`,
    [flat.map(({ place }) => place), flat.map(({ place }) => wanted[place]?.runId ?? ''), flat.map(({ type }) => type)],
  );
  const found = new Set(rows.map(({ place }) => place));
  return wanted.map((_, place) => found.has(place));
}
