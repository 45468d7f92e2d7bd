import { callCatalogue } from '@flotilla/contracts/call-catalogue';
import { describeOpenApi } from '@flotilla/contracts/calls/describe-open-api';
import { commonErrors } from '@flotilla/contracts/calls/common-errors';
import { PublishedRun } from '@flotilla/contracts/calls/published-views';
import { roles } from '@flotilla/contracts/define-call';
import { Principal, RunId } from '@flotilla/contracts/ids';
import { LogEntry } from '@flotilla/contracts/log-entry';
import { trace } from '@opentelemetry/api';
import type { AnswerPorts } from '../answers/create-answers.ts';
import { createAnswers } from '../answers/create-answers.ts';
import { createAuthenticator } from './authenticate.ts';
import { loopbackHosts } from '../domain/check-host.ts';
import { renderReference } from '../pages/render-reference.ts';
import { RunTails } from '../watch/run-tails.ts';
import type { PublishedViews } from '../views/published-views.ts';
import { buildServer } from './build-server.ts';

export const fullToken = 'token-of-anna';
export const readToken = 'token-of-ben';
export const exampleRunId = RunId.parse('run_01j9z3k8m2n4p6q8r0s2t4v6w8');

/** A log in memory that tells its readers when it grew. */
class MemoryLog {
  readonly entries: LogEntry[] = [];
  readonly listeners = new Set<() => void>();
  reads = 0;

  append(type: string, payload: unknown, place: { stepId?: string; attempt?: number } = {}): void {
    const sequence = this.entries.length + 1;
    this.entries.push(
      LogEntry.parse({ runId: exampleRunId, sequence, type, payload, at: '2030-01-01T00:00:00.000Z', ...place }),
    );
    for (const listener of this.listeners) listener();
  }

  read: AnswerPorts['readLog'] = async (_, { after = 0, limit = 1000, types, stepId } = {}) => {
    this.reads += 1;
    const found = this.entries
      .filter(({ sequence, type }) => sequence > after && (types === undefined || types.includes(type)))
      .filter((entry) => stepId === undefined || entry.stepId === stepId)
      .slice(0, limit);
    await Promise.resolve();
    return found;
  };
}

export function exampleRow(changes: Partial<PublishedRun> = {}): PublishedRun {
  return PublishedRun.parse({
    run_id: exampleRunId,
    project: 'slugify',
    goal: 'Make slugify keep digits.',
    topology: 'feature_builder',
    mode: 'normal',
    principal: 'anna',
    external_key: null,
    retry_of: null,
    state: 'running',
    step_id: 'build',
    result: null,
    commit: null,
    branch: 'main',
    code: null,
    message: null,
    advice: null,
    gate_id: null,
    budget: { turns: 80, calls: 240, tokens: 800_000, microdollars: 5_000_000, seconds: 3600 },
    spent: { turns: 1, calls: 2, tokens: 300, microdollars: null, seconds: 2.5 },
    traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    created_at: '2030-01-01T00:00:00.000Z',
    ended_at: null,
    archived_at: null,
    archive: null,
    ...changes,
  });
}

/** The whole server with a router and views in memory. */
export function createServerFixture({ requestLimitMs }: { readonly requestLimitMs?: number } = {}) {
  const log = new MemoryLog();
  const rows: PublishedRun[] = [exampleRow()];
  const forwarded: { call: string; request: unknown; principal: string }[] = [];
  const live = new Set<(text: string) => void>();
  const logged: Readonly<Record<string, unknown>>[] = [];
  const shutdown = new AbortController();
  let forward: AnswerPorts['forward'] = async (call) => Promise.resolve(call.example.response);
  const views: PublishedViews = {
    findRun: (runId) => Promise.resolve(rows.find(({ run_id }) => run_id === runId)),
    listRuns: ({ limit }) => Promise.resolve(rows.slice(0, limit)),
    findGate: () => Promise.resolve(undefined),
    listGates: () => Promise.resolve([]),
    findProject: () => Promise.resolve(undefined),
    listProjects: () => Promise.resolve([]),
    lastSequence: () => Promise.resolve(log.entries.length),
  };
  const tails = new RunTails({
    readLog: log.read,
    subscribe: (_, { onAdvanced, onLive }) => {
      log.listeners.add(onAdvanced);
      live.add(onLive);
      return () => {
        log.listeners.delete(onAdvanced);
        live.delete(onLive);
      };
    },
    every: () => () => undefined,
  });
  const answers = createAnswers(callCatalogue, {
    views,
    readLog: log.read,
    tails,
    forward: (call, request, caller) => {
      forwarded.push({ call: call.name, request, principal: caller.principal });
      return forward(call, request, caller);
    },
  });
  const everyCode = [...new Set([...callCatalogue.flatMap(({ errors }) => errors), ...commonErrors])];
  const { server, routes } = buildServer({
    calls: callCatalogue,
    answers,
    door: {
      authenticate: createAuthenticator([
        { token: fullToken, principal: Principal.parse('anna'), roles },
        { token: readToken, principal: Principal.parse('ben'), roles: ['read'] },
      ]),
      allowedHosts: loopbackHosts,
    },
    pages: {
      openApi: describeOpenApi(
        callCatalogue,
        everyCode.map((code) => ({ code, remedy: 'caller', summary: code, advice: 'Do.' })),
        '0.0.0',
      ),
      reference: renderReference(callCatalogue, '0.0.0'),
      ready: () => Promise.resolve({ database: true, broker: true }),
    },
    logger: { info: (fields) => logged.push(fields), error: (fields) => logged.push(fields) },
    tracer: trace.getTracer('test'),
    shutdown: shutdown.signal,
    ...(requestLimitMs === undefined ? {} : { requestLimitMs }),
  });
  return {
    server,
    routes,
    log,
    rows,
    forwarded,
    logged,
    tails,
    shutdown,
    say: (text: string) => live.forEach((listener) => listener(text)),
    answerWith: (answer: AnswerPorts['forward']) => (forward = answer),
  };
}

export type ServerFixture = ReturnType<typeof createServerFixture>;
