import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunId, GateId, CommitId } from '@flotilla/contracts/ids';
import type { RequestInputOf } from '@flotilla/contracts/define-call';
import type { calls } from '@flotilla/contracts/call-catalogue';
import { startFleet, type Fleet } from '@flotilla/dev/fleet/start-fleet';
import { repositoryDirectory } from '@flotilla/dev/repository';
import { silentReport } from '@flotilla/dev/report';
import type { Script } from '@flotilla/testing/scripted-model/script';
import { startScriptedModel, type ScriptedModel } from '@flotilla/testing/scripted-model/start-scripted-model';
import { FleetClient, type LogEvent } from './fleet-client.ts';

export interface TestFleetOptions {
  readonly script: Script;
  /** Default: true. */
  readonly allInOne?: boolean;
  readonly settings?: Readonly<Record<string, string>>;
  /** Addresses of servers to use, as variables. Default: servers of the fleet's own. */
  readonly servers?: Readonly<Record<'DATABASE_URL' | 'NATS_URL' | 'REDIS_URL', string>>;
  /** The key that the model asks for. */
  readonly modelKey?: string;
}

/** A fleet of a test's own: its servers, services and scripted model, in a directory that goes with it. */
export interface TestFleet {
  readonly fleet: Fleet;
  readonly client: FleetClient;
  readonly model: ScriptedModel;
  readonly directory: string;
  /** Lines that services logged. */
  readonly logLines: readonly string[];
  addProject(name: string, remote: string, more?: Partial<RequestInputOf<typeof calls.addProject>>): Promise<void>;
  submit(project: string, goal: string, more?: Partial<RequestInputOf<typeof calls.submitTask>>): Promise<RunId>;
  /** Follows the log until an entry of this type; gives all entries up to it. Fails when the run ends before. */
  until(runId: RunId, type: string): Promise<readonly LogEvent[]>;
  /** Waits for the run's gate and approves the commit that it asks about. */
  approve(runId: RunId): Promise<void>;
  /** Approves whatever is asked until the run has ended; gives its whole log. */
  finish(runId: RunId): Promise<readonly LogEvent[]>;
  close(): Promise<void>;
}

const patienceMs = 240_000;

export async function startTestFleet(options: TestFleetOptions): Promise<TestFleet> {
  const parent = join(repositoryDirectory, '.data/test-fleets');
  await mkdir(parent, { recursive: true });
  const directory = await mkdtemp(join(parent, 'fleet-'));
  const model = await startScriptedModel({
    script: options.script,
    ...(options.modelKey === undefined ? {} : { apiKey: options.modelKey }),
  });
  const logLines: string[] = [];
  const stopped = new AbortController();
  const { DATABASE_URL: _database, NATS_URL: _nats, REDIS_URL: _redis, ...environment } = process.env;
  const fleet = await startFleet({
    dataDirectory: join(directory, 'data'),
    report: silentReport,
    signal: stopped.signal,
    environment: { ...environment, ...options.servers },
    allInOne: options.allInOne ?? true,
    httpPort: 0,
    settings: {
      FLOTILLA_MODEL: `compatible:scripted@${model.url}`,
      ...(options.modelKey === undefined ? {} : { FLOTILLA_MODEL_KEY: options.modelKey }),
      ...options.settings,
    },
    onLogLine: (line) => logLines.push(line),
    onGivenUp: (error) => stopped.abort(error),
  });
  const client = new FleetClient(fleet.url, fleet.token);
  const patience = (): AbortSignal => AbortSignal.any([stopped.signal, AbortSignal.timeout(patienceMs)]);

  const until = async (runId: RunId, type: string): Promise<readonly LogEvent[]> => {
    const seen: LogEvent[] = [];
    for await (const entry of client.entries(runId, patience())) {
      seen.push(entry);
      if (entry.type === type) return seen;
      if (entry.type === 'run.ended') break;
    }
    throw new Error(`${runId} ended before ${type}: ${describe(seen)}`);
  };
  const decide = async (entry: LogEvent): Promise<void> => {
    const { gateId, change } = entry.payload as {
      readonly gateId: GateId;
      readonly change: { readonly commit: CommitId };
    };
    await client.call('decideGate', { gateId, decision: 'approve', commit: change.commit });
  };
  return {
    fleet,
    client,
    model,
    directory,
    logLines,
    addProject: async (name, remote, more = {}) => {
      await client.call('addProject', { name, remote, ...more });
    },
    submit: async (project, goal, more = {}) => (await client.call('submitTask', { project, goal, ...more })).runId,
    until,
    approve: async (runId) => decide((await until(runId, 'gate.opened')).at(-1)!),
    finish: async (runId) => {
      const seen: LogEvent[] = [];
      const decided = new Set<string>();
      for await (const entry of client.entries(runId, patience())) {
        seen.push(entry);
        if (entry.type !== 'gate.opened') continue;
        const { gateId } = entry.payload as { readonly gateId: string };
        if (decided.has(gateId)) continue;
        decided.add(gateId);
        const gates = await client.call('listGates', { runId });
        if (gates.gates.some((gate) => gate.gateId === gateId)) await decide(entry);
      }
      return seen;
    },
    close: async () => {
      await fleet.stop();
      await model.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Types in their order, for the message of a test that failed. */
export function describe(entries: readonly LogEvent[]): string {
  return entries
    .map(
      ({ type, stepId, payload }) =>
        `${stepId ?? ''} ${type}${type === 'step.completed' || type === 'run.ended' ? ` ${JSON.stringify(payload)}` : ''}`,
    )
    .join('\n');
}

/** The payload of the one entry of a type. */
export function payloadOf<Payload = Readonly<Record<string, unknown>>>(
  entries: readonly LogEvent[],
  type: string,
): Payload {
  const found = entries.filter((entry) => entry.type === type);
  if (found.length !== 1) throw new Error(`${found.length} entries of ${type}:\n${describe(entries)}`);
  return found[0]!.payload as Payload;
}
