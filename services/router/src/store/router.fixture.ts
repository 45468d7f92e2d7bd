import type { Spent } from '@flotilla/contracts/allowance';
import { GateId, Principal, ProjectName, RunId, type TraceContext } from '@flotilla/contracts/ids';
import type { LogEntry } from '@flotilla/contracts/log-entry';
import { Task } from '@flotilla/contracts/messages/task-submitted';
import type { Outcome } from '@flotilla/contracts/outcome';
import { Project } from '@flotilla/contracts/project';
import type { Verb } from '@flotilla/contracts/verbs';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { migrate } from '@flotilla/store/migrate';
import { openStore } from '@flotilla/store/open-store';
import type { Spills } from '@flotilla/store/spills';
import { startPostgres } from '@flotilla/testing/servers/start-postgres';

import type { z } from 'zod';
import { done, featureBuilder, quickFix, spentTokens } from '../domain/run.fixture.ts';
import type { Advance } from '../domain/decision.ts';
import { RunState } from '../domain/run-state.ts';
import { routerEntities } from './entities.ts';
import { IntakeStore } from './intake.store.ts';
import { ProjectStore } from './project.store.ts';
import { routerMigrations } from './router-migrations.ts';
import { RunStore } from './run.store.ts';
import { SweepStore } from './sweep.store.ts';

export const ann = Principal.parse('ann');
export const bob = Principal.parse('bob');
export const project = Project.parse({ name: ProjectName.parse('slugify'), remote: '/srv/git/a.git' });

/** A router's stores on a Postgres of its own, with a clock that the test turns. */
export async function createRouterFixture({ spills }: { readonly spills?: Spills } = {}) {
  const postgres = await startPostgres();
  await migrate({ databaseUrl: postgres.url, migrations: routerMigrations });
  const kept = new Map<string, Uint8Array>();
  let trace: TraceContext | undefined;
  let now = new Date();
  let ids = 0;
  const ulid = () => String((ids += 1)).padStart(26, '0');
  const clock = () => now;
  const store = await openStore({
    databaseUrl: postgres.url,
    applicationName: 'router-test',
    clock,
    entities: routerEntities,
    traceContext: () => trace,
    spills: spills ?? {
      put: (name, bytes) => Promise.resolve(void kept.set(name, bytes)),
      get: (name) => Promise.resolve(kept.get(name) ?? new Uint8Array()),
    },
  });
  const slips = new Map([featureBuilder, quickFix].map((slip) => [slip.topology as string, slip]));
  const moves: Advance[] = [];
  const ports = {
    store,
    clock,
    newGateId: () => GateId.parse(`gate_${ulid()}`),
    tell: (advance: Advance) => void moves.push(advance),
  };
  const runs = new RunStore(ports);
  const intake = new IntakeStore({
    ...ports,
    slips,
    sessionMode: 'auto',
    newRunId: () => RunId.parse(`run_${ulid()}`),
  });
  const projects = new ProjectStore({ store, clock });
  await projects.add(project, false);

  const readRun = async (runId: RunId): Promise<RunState> => {
    const [row] = await store.query<{ facts: unknown }>('select facts from router.run where id = $1', [runId]);
    return RunState.parse(row?.facts);
  };
  const complete = async (runId: RunId, outcome: Outcome, spent: Spent = spentTokens(10)) => {
    const { position } = await readRun(runId);
    if (position?.kind !== 'step') throw new Error(`${runId} is at ${position?.kind}`);
    return runs.completeStep({ runId, stepId: position.stepId, attempt: position.attempt, outcome, spent });
  };
  /** Rows of a view, read with the columns and times that its readers ask for. */
  const readView = async <Schema extends z.ZodObject>(
    schema: Schema,
    view: string,
    condition: string,
    parameters: readonly unknown[],
  ) => {
    const columns = Object.keys(schema.shape).map((name) =>
      name.endsWith('_at')
        ? `to_char(${name} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as ${name}`
        : `"${name}"`,
    );
    const rows = await store.query(
      `select ${columns.join(', ')} from published.${view} where ${condition}`,
      parameters,
    );
    return rows.map((row) => schema.parse(row));
  };
  return {
    store,
    databaseUrl: postgres.url,
    clock,
    readView,
    runs,
    intake,
    moves,
    projects,
    sweep: new SweepStore(store, clock),
    close: async () => {
      await store.close();
      await postgres.close();
    },
    passTime: (seconds: number) => void (now = new Date(now.getTime() + seconds * 1000)),
    traceWith: (next: TraceContext | undefined) => void (trace = next),
    readRun,
    complete,
    submit: async (task: Partial<Task> = {}) =>
      (
        await intake.accept({
          task: Task.parse({ goal: 'Keep digits.', project: project.name, ...task }),
          principal: ann,
          through: 'queue',
        })
      ).runId,
    /** Lets steps go well until the run is asked for a step of `verb`, or is at a gate. */
    until: async (runId: RunId, verb: Verb | 'gate') => {
      for (let left = 12; left > 0; left -= 1) {
        const { position } = await readRun(runId);
        if (position?.kind === 'gate' && verb === 'gate') return position;
        if (position?.kind === 'gate')
          await runs.decideGate({ gateId: position.gateId, decision: 'approve', commit: position.change.commit }, ann);
        else if (position?.kind !== 'step') throw new Error(`${runId} is at ${position?.kind}`);
        else {
          const step = featureBuilder.steps[position.stepId];
          if (step?.kind !== 'work' || step.does === verb) return undefined;
          await complete(runId, done(step.does));
        }
      }
      throw new Error(`${runId} never comes to ${verb}`);
    },
    messages: (runId: RunId) =>
      store.query<{ message_id: string; subject: string; payload: string; headers: Record<string, string> }>(
        "select message_id, subject, payload, headers from flow.outbox where payload like '%' || $1 || '%' and subject like 'flotilla.step.%' order by id",
        [runId],
      ),
    log: (runId: RunId): Promise<readonly LogEntry[]> => store.readLog(runId),
  };
}
export type RouterFixture = Awaited<ReturnType<typeof createRouterFixture>>;

/** The code of the error that work ends with; undefined where it ends well. */
export async function failureOf(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
    return undefined;
  } catch (error) {
    return error instanceof FlotillaError ? error.code : error;
  }
}
