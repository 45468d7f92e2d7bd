import type { calls } from '@flotilla/contracts/call-catalogue';
import type { RequestOf, ResponseOf } from '@flotilla/contracts/define-call';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import type { LogEntry } from '@flotilla/contracts/log-entry';
import type { ProjectName, RunId, StepId } from '@flotilla/contracts/ids';
import type { PublishedProject, PublishedRun } from '@flotilla/contracts/calls/published-views';
import type { ReadLogOptions, Store } from '@flotilla/store/store';
import { buildTimeline, timelineTypes } from '../domain/build-timeline.ts';
import { chooseDiff, diffTypes } from '../domain/choose-diff.ts';
import { collectOutputs, outputTypes } from '../domain/collect-outputs.ts';
import { describeEntry, traceIdOf } from '../domain/describe-entry.ts';
import { describeGate, describeProject, describeRun, describeOpenGate, withoutNulls } from '../domain/describe-run.ts';
import { decisionTypes, listDecisions } from '../domain/list-decisions.ts';
import { describeReview, reviewTypes } from '../domain/describe-review.ts';
import { stepTypes, typeUnknown, unknownTypes, whyStepUnknown } from '../domain/refuse-unknown.ts';
import type { PublishedViews } from '../views/published-views.ts';

type GatewayQuery =
  | 'listRuns'
  | 'showRun'
  | 'listEvents'
  | 'showDiff'
  | 'showOutput'
  | 'listGates'
  | 'showGate'
  | 'listProjects'
  | 'showProject';

/** Queries that the gateway answers itself, from views and the log. */
export type QueryAnswers = {
  readonly [Name in GatewayQuery]: (
    request: RequestOf<(typeof calls)[Name]>,
  ) => Promise<ResponseOf<(typeof calls)[Name]>>;
};

export interface QueryPorts {
  readonly views: PublishedViews;
  readonly readLog: Store['readLog'];
}

export function answerQueries({ views, readLog }: QueryPorts): QueryAnswers {
  const readWhole = (runId: RunId, types: readonly string[]) => readWholeLog(readLog, runId, { types });
  const requireStep = async (runId: RunId, stepId: StepId | undefined) => {
    const unknown = stepId === undefined ? undefined : whyStepUnknown(runId, stepId, await readWhole(runId, stepTypes));
    if (unknown !== undefined) throw unknown;
  };
  return {
    listRuns: async ({ limit, ...filter }) => {
      const rows = await views.listRuns({ ...filter, limit: limit + 1 });
      if (rows.length === 0) await requireProject(views, filter.project);
      const { page, next } = cutPage(rows, limit, ({ run_id }) => run_id);
      return { runs: page.map(describeRun), ...next };
    },
    showRun: async ({ runId }) => {
      const row = await findRun(views, runId);
      const [entries, gate] = await Promise.all([
        readWhole(runId, [...timelineTypes, ...decisionTypes]),
        row.gate_id === null ? undefined : views.findGate(row.gate_id),
      ]);
      return {
        run: describeRun(row),
        budget: row.budget,
        timeline: [...buildTimeline(entries)],
        decisions: listDecisions(entries),
        ...withoutNulls({
          gate: gate === undefined ? null : describeOpenGate(gate),
          branch: row.branch,
          traceId: traceIdOf(row.traceparent) ?? null,
          retryOf: row.retry_of,
          externalKey: row.external_key,
        }),
      };
    },
    listEvents: async ({ runId, after, limit, type, stepId }) => {
      await findKeptRun(views, runId);
      await requireTypes(readLog, runId, type);
      const entries = await readLog(runId, {
        after,
        limit: limit + 1,
        ...(type.length === 0 ? {} : { types: type }),
        ...(stepId === undefined ? {} : { stepId }),
      });
      if (entries.length === 0) await requireStep(runId, stepId);
      const { page, next } = cutPage(entries, limit, ({ sequence }) => sequence);
      return { entries: page.map(describeEntry), ...next };
    },
    showDiff: async ({ runId }) => {
      await findKeptRun(views, runId);
      return chooseDiff(runId, await readWhole(runId, diffTypes));
    },
    showOutput: async ({ runId, stepId, after, limit }) => {
      await findKeptRun(views, runId);
      const outputs = collectOutputs(await readWhole(runId, outputTypes)).filter(
        (output) => output.sequence > after && (stepId === undefined || output.stepId === stepId),
      );
      if (outputs.length === 0) await requireStep(runId, stepId);
      const { page, next } = cutPage(outputs, limit, ({ sequence }) => sequence);
      return { outputs: [...page], ...next };
    },
    listGates: async ({ limit, ...filter }) => {
      const rows = await views.listGates({ ...filter, limit: limit + 1 });
      if (rows.length === 0) await requireProject(views, filter.project);
      if (rows.length === 0 && filter.runId !== undefined) await findKeptRun(views, filter.runId);
      const { page, next } = cutPage(rows, limit, ({ gate_id }) => gate_id);
      return { gates: page.map(describeGate), ...next };
    },
    showGate: async ({ gateId }) => {
      const row = await views.findGate(gateId);
      if (row === undefined) throw new FlotillaError(errors.gateUnknown, { gateId });
      return { gate: describeGate(row), ...describeReview(row.change, await readWhole(row.run_id, reviewTypes)) };
    },
    listProjects: async ({ limit, after }) => {
      const rows = await views.listProjects({ after, limit: limit + 1 });
      const { page, next } = cutPage(rows, limit, ({ name }) => name);
      return { projects: page.map(describeProject), ...next };
    },
    showProject: async ({ name }) => {
      return { project: describeProject(await findProject(views, name)) };
    },
  };
}

/** An empty list of a project that is not there would say that there is nothing, not that its name is misspelt. */
async function requireProject(views: PublishedViews, name: ProjectName | undefined): Promise<void> {
  if (name !== undefined) await findProject(views, name);
}

/** Throws PROJECT_UNKNOWN. */
async function findProject(views: PublishedViews, name: ProjectName): Promise<PublishedProject> {
  const row = await views.findProject(name);
  if (row === undefined) throw new FlotillaError(errors.projectUnknown, { project: name });
  return row;
}

/** Throws RUN_UNKNOWN. */
async function findRun(views: Pick<PublishedViews, 'findRun'>, runId: RunId): Promise<PublishedRun> {
  const row = await views.findRun(runId);
  if (row === undefined) throw new FlotillaError(errors.runUnknown, { runId });
  return row;
}

/** Throws EVENT_TYPE_UNKNOWN for a type that neither this version nor this log knows: an empty page would say that nothing of it happened. */
async function requireTypes(readLog: Store['readLog'], runId: RunId, types: readonly string[]): Promise<void> {
  for (const type of unknownTypes(types)) {
    if ((await readLog(runId, { types: [type], limit: 1 })).length === 0) throw typeUnknown(type);
  }
}

/** The row of a run whose log and gates are there. Throws RUN_UNKNOWN, RUN_ARCHIVED. */
export async function findKeptRun(views: Pick<PublishedViews, 'findRun'>, runId: RunId): Promise<PublishedRun> {
  const row = await findRun(views, runId);
  if (row.archived_at !== null) throw new FlotillaError(errors.runArchived, { runId });
  return row;
}

/** A page of at most `limit`, and where the next begins when one more row was read than it shows. */
function cutPage<Row, Cursor>(
  rows: readonly Row[],
  limit: number,
  cursorOf: (row: Row) => Cursor,
): { readonly page: Row[]; readonly next: { readonly next?: Cursor } } {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return { page, next: rows.length > limit && last !== undefined ? { next: cursorOf(last) } : {} };
}

const pageSize = 500;

async function readWholeLog(readLog: Store['readLog'], runId: RunId, options: ReadLogOptions): Promise<LogEntry[]> {
  const entries: LogEntry[] = [];
  for (;;) {
    const page = await readLog(runId, { ...options, after: entries.at(-1)?.sequence ?? 0, limit: pageSize });
    entries.push(...page);
    if (page.length < pageSize) return entries;
  }
}
