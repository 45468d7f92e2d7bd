import { RunId, type Principal, type ProjectName } from '@flotilla/contracts/ids';
import type { Task } from '@flotilla/contracts/messages/task-submitted';
import type { Project } from '@flotilla/contracts/project';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import type { Transaction } from '@flotilla/store/transaction';
import type { Mode } from '@flotilla/contracts/grants';
import type { Slip } from '@flotilla/workflow/slip';
import { acceptTask, taskOfRun } from '../domain/accept-task.ts';
import { advanceRun } from '../domain/advance-run.ts';
import type { Advance, RunEvent } from '../domain/decision.ts';
import { whyRetryRefused } from '../domain/judge-retry.ts';
import { ProjectEntity, RunEntity } from './entities.ts';
import { fingerprintTask } from './fingerprint-task.ts';
import { lockRun, writeAdvance } from './move-run.ts';
import { projectLock } from './project.store.ts';
import { runColumns, textColumn } from './run-columns.ts';
import type { RunStorePorts } from './run.store.ts';

export interface IntakePorts extends RunStorePorts {
  readonly newRunId: () => RunId;
  /** Every topology that runs may follow. */
  readonly slips: ReadonlyMap<string, Slip>;
  /** The mode that this installation's runs have unless less is asked for. */
  readonly sessionMode: Mode;
}

export interface Submission {
  readonly task: Task;
  readonly principal: Principal;
  readonly through: 'queue' | 'command';
  /** Names the occasion on the queue: the same one gives the same run. */
  readonly intakeId?: string;
}

export interface Submitted {
  readonly runId: RunId;
  readonly created: boolean;
}

interface Begun extends Submitted {
  readonly advance?: Advance;
}

interface Origin {
  readonly through: 'queue' | 'command' | 'retry';
  readonly retries: number;
  readonly intakeId?: string;
  readonly retryOf?: RunId;
}

/** Where tasks become runs; each method is one transaction. */
export class IntakeStore {
  readonly #ports: IntakePorts;

  constructor(ports: IntakePorts) {
    this.#ports = ports;
  }

  /** Throws PROJECT_UNKNOWN, TOPOLOGY_UNKNOWN, EXTERNAL_KEY_REUSED. Safe to repeat with an external key or an intake id. */
  accept(submission: Submission): Promise<Submitted> {
    const { task, principal, through, intakeId } = submission;
    return this.#begin(async (transaction) => {
      const project = await findProject(transaction, task.project);
      const known = await this.#findAccepted(transaction, submission, project);
      if (known !== undefined) return known;
      return this.#create(transaction, task, project, principal, {
        through,
        retries: 0,
        ...(intakeId === undefined ? {} : { intakeId }),
      });
    });
  }

  /** The run that a submission has already. Throws EXTERNAL_KEY_REUSED. */
  findAccepted(submission: Submission): Promise<Submitted | undefined> {
    const { project, externalKey } = submission.task;
    if (externalKey === undefined && submission.intakeId === undefined) return Promise.resolve(undefined);
    return this.#ports.store.transaction(async (transaction) =>
      this.#findAccepted(transaction, submission, await findProject(transaction, project)),
    );
  }

  /**
   * The task of an ended run as a new run, on the project and topology as they are now. Throws RUN_UNKNOWN, RUN_NOT_ENDED,
   * RUN_ARCHIVED, RUN_LANDED, RUN_MAY_HAVE_LANDED, RETRIES_EXHAUSTED, PROJECT_UNKNOWN. Asked twice, it gives the same run, also once that was archived.
   */
  retry(runId: RunId, principal: Principal): Promise<Submitted> {
    return this.#begin(async (transaction) => {
      const known = await findRetry(transaction, runId);
      if (known !== undefined) return known;
      const { row, run, slip } = await lockRun(transaction, runId);
      // Somebody else may have asked while this one waited.
      const retried = await findRetry(transaction, runId);
      if (retried !== undefined) return retried;
      const refusal = whyRetryRefused(run, row.retries);
      if (refusal !== undefined) throw refusal;
      const origin = { through: 'retry', retries: row.retries + 1, retryOf: runId } as const;
      const task = taskOfRun(run, slip.topology);
      return this.#create(transaction, task, await findProject(transaction, task.project), principal, origin);
    });
  }

  async #begin(work: (transaction: Transaction) => Promise<Begun>): Promise<Submitted> {
    const { runId, created, advance } = await this.#ports.store.transaction(work);
    if (advance !== undefined) this.#ports.tell(advance);
    return { runId, created };
  }

  /** A key counts for the repository that the project's name stands for now; where it stands for none, for the last one that it did. */
  async #findAccepted(
    transaction: Transaction,
    { task, intakeId }: Submission,
    found: Project | undefined,
  ): Promise<Submitted | undefined> {
    const { externalKey, project } = task;
    const keys = [
      ...(externalKey === undefined ? [] : [`key/${project}/${externalKey}`]),
      ...(intakeId === undefined ? [] : [`intake/${intakeId}`]),
    ];
    // Two arrivals of one task wait here for each other; in one order, so that they cannot wait in a circle.
    for (const key of keys.sort())
      await transaction.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [key]);
    const ofRemote = found === undefined ? {} : { $or: [{ remote: found.remote }, { remote: null }] };
    const byKey =
      externalKey === undefined
        ? null
        : await transaction.em.findOne(
            RunEntity,
            { project, externalKey, ...ofRemote },
            { orderBy: { createdAt: 'desc', id: 'desc' } },
          );
    const run = byKey ?? (intakeId === undefined ? null : await transaction.em.findOne(RunEntity, { intakeId }));
    if (run === null) return undefined;
    if (run.fingerprint !== fingerprintTask(task))
      throw new FlotillaError(errors.externalKeyReused, { externalKey: externalKey ?? intakeId, runId: run.id });
    return { runId: RunId.parse(run.id), created: false };
  }

  async #create(
    transaction: Transaction,
    task: Task,
    project: Project | undefined,
    principal: Principal,
    origin: Origin,
  ): Promise<Begun> {
    const { newRunId, newGateId, sessionMode, clock } = this.#ports;
    if (project === undefined) throw new FlotillaError(errors.projectUnknown, { project: task.project });
    const slip = this.#slipOf(task.topology ?? project.topology);
    const now = clock();
    const { through, retries, retryOf, intakeId } = origin;
    const retried = retryOf === undefined ? {} : { retryOf };
    const { run, entry } = acceptTask({
      task,
      project,
      slip,
      runId: newRunId(),
      principal,
      through,
      ...retried,
      sessionMode,
      now,
    });
    const row = transaction.em.create(
      RunEntity,
      {
        ...runColumns(run),
        id: run.runId,
        project: project.name,
        remote: project.remote,
        externalKey: run.externalKey ?? null,
        intakeId: intakeId ?? null,
        fingerprint: fingerprintTask(task),
        retryOf: retryOf ?? null,
        retries,
        goal: textColumn(run.goal),
        topology: slip.topology,
        mode: run.mode,
        principal,
        requests: 0,
        budget: slip.budget,
        slip,
        createdAt: now,
      },
      { persist: true },
    );
    const event: RunEvent = { kind: 'accepted', entry };
    const advance = advanceRun({ run, slip, event, turn: { kind: 'free' }, now, gateId: newGateId() });
    if (advance.kind === 'ignored') throw new Error(`a new run was not begun: ${advance.reason}`);
    await writeAdvance(transaction, { row }, advance, { now, newGateId });
    return { runId: run.runId, created: true, advance };
  }

  #slipOf(topology: string): Slip {
    const slip = this.#ports.slips.get(topology);
    if (slip === undefined)
      throw new FlotillaError(errors.topologyUnknown, {
        topology,
        topologies: [...this.#ports.slips.keys()].join(', '),
      });
    return slip;
  }
}

/** Shares the project until the run is there, so that it is not removed unseen. Before any lock of a key, so that nobody waits in a circle. */
async function findProject({ em, query }: Transaction, name: ProjectName): Promise<Project | undefined> {
  await query('select pg_advisory_xact_lock_shared(hashtextextended($1, 0))', [projectLock(name)]);
  return (await em.findOne(ProjectEntity, { name }))?.definition;
}

async function findRetry({ em }: Transaction, runId: RunId): Promise<Submitted | undefined> {
  const found = await em.findOne(RunEntity, { retryOf: runId });
  return found === null ? undefined : { runId: RunId.parse(found.id), created: false };
}
