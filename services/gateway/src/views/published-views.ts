import { PublishedGate, PublishedProject, PublishedRun } from '@flotilla/contracts/calls/published-views';
import type { GateId, ProjectName, RunId } from '@flotilla/contracts/ids';
import type { Store } from '@flotilla/store/store';
import type { z } from 'zod';

export interface RunFilter {
  readonly project?: ProjectName | undefined;
  readonly state?: string | undefined;
  readonly result?: string | undefined;
  readonly before?: RunId | undefined;
  readonly limit: number;
}

export interface GateFilter {
  readonly project?: ProjectName | undefined;
  readonly runId?: RunId | undefined;
  readonly state: string;
  readonly before?: GateId | undefined;
  readonly limit: number;
}

/** Reads what the router publishes. Ids sort by time, so that a page begins where an id ends. */
export interface PublishedViews {
  findRun(runId: RunId): Promise<PublishedRun | undefined>;
  listRuns(filter: RunFilter): Promise<readonly PublishedRun[]>;
  findGate(gateId: GateId): Promise<PublishedGate | undefined>;
  listGates(filter: GateFilter): Promise<readonly PublishedGate[]>;
  findProject(name: ProjectName): Promise<PublishedProject | undefined>;
  listProjects(page: { after?: ProjectName | undefined; limit: number }): Promise<readonly PublishedProject[]>;
  /** Sequence of the newest entry of a run's log; 0 where it has none. */
  lastSequence(runId: RunId): Promise<number>;
}

export function createPublishedViews({ query }: Pick<Store, 'query'>): PublishedViews {
  const select = async <Schema extends z.ZodObject>(
    schema: Schema,
    view: string,
    rest: string,
    parameters: readonly unknown[],
  ): Promise<readonly z.output<Schema>[]> => {
    const rows = await query(`select ${columnsOf(schema)} from published.${view} ${rest}`, parameters);
    return rows.map((row) => schema.parse(row));
  };
  return {
    findRun: async (runId) => (await select(PublishedRun, 'run', 'where run_id = $1', [runId]))[0],
    listRuns: ({ project, state, result, before, limit }) =>
      select(
        PublishedRun,
        'run',
        `where ($1::text is null or project = $1) and ($2::text is null or state = $2)
           and ($3::text is null or result = $3) and ($4::text is null or run_id < $4)
         order by run_id desc limit $5`,
        [project ?? null, state ?? null, result ?? null, before ?? null, limit],
      ),
    findGate: async (gateId) => (await select(PublishedGate, 'gate', 'where gate_id = $1', [gateId]))[0],
    listGates: ({ project, runId, state, before, limit }) =>
      select(
        PublishedGate,
        'gate',
        `where ($1::text is null or project = $1) and ($2::text is null or run_id = $2) and state = $3
           and ($4::text is null or gate_id < $4)
         order by gate_id desc limit $5`,
        [project ?? null, runId ?? null, state, before ?? null, limit],
      ),
    findProject: async (name) => (await select(PublishedProject, 'project', 'where name = $1', [name]))[0],
    listProjects: ({ after, limit }) =>
      select(PublishedProject, 'project', 'where ($1::text is null or name > $1) order by name limit $2', [
        after ?? null,
        limit,
      ]),
    lastSequence: async (runId) => {
      const rows = await query<{ last: number | string }>('select last from flow.cursor where run = $1', [runId]);
      return Number(rows[0]?.last ?? 0);
    },
  };
}

/** Times are written as the contract wants them, whatever the driver makes of a timestamp. */
function columnsOf(schema: z.ZodObject): string {
  return Object.keys(schema.shape)
    .map((column) =>
      column.endsWith('_at')
        ? `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as ${column}`
        : `"${column}"`,
    )
    .join(', ');
}
