import { RunId } from '@flotilla/contracts/ids';
import { leaseIsHeld, stepLeaseKey } from '@flotilla/store/lease';
import type { Store } from '@flotilla/store/store';
import { requestAgain } from '../domain/request-again.ts';
import type { RunRow } from './entities.ts';
import { contractOf, lockRun, readTrace } from './move-run.ts';

/** A step that was asked for this long ago, that nobody holds and nobody answered, is asked for again. */
const REQUEST_AGAIN_AFTER_MS = 60_000;
/** The wait doubles each time up to this many times the first, so that a long queue is not filled with repeats. */
const LONGEST_WAIT = 16;
const AT_ONCE = 200;

export interface DueWork {
  /** Steps without a lease and without an answer. */
  readonly unanswered: readonly RunId[];
  readonly cancelled: readonly RunId[];
  readonly overdue: readonly RunId[];
  /** Lanes whose turn is free while runs wait for it. */
  readonly freeLanes: readonly string[];
}

const unheld = `not exists (select 1 from flow.lease
  where key = 'step/' || run.id || '/' || run.step_id || '/' || run.attempt and ${leaseIsHeld})`;

export class SweepStore {
  readonly #store: Store;
  readonly #clock: () => Date;

  constructor(store: Store, clock: () => Date) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Gates that wait for a person. */
  async countOpenGates(): Promise<number> {
    const [row] = await this.#store.query<{ open: number }>(
      "select count(*)::integer as open from router.gate where state = 'open'",
    );
    return row?.open ?? 0;
  }

  async findDue(): Promise<DueWork> {
    const now = this.#clock();
    const find = async (condition: string, parameters: readonly unknown[]) => {
      const rows = await this.#store.query<{ id: string }>(
        `select id from router.run as run where ${condition} and ${unheld} order by id limit ${AT_ONCE}`,
        parameters,
      );
      return rows.map(({ id }) => RunId.parse(id));
    };
    const unanswered = await find(
      `(state = 'running' and deadline_at > $1 or state in ('running', 'cancelling') and (facts->>'holdsTurn')::boolean)
       and (requested_at < $1::timestamptz - least(power(2, requests), ${LONGEST_WAIT}) * $2 * interval '1 millisecond'
         or requested_at > $1::timestamptz + $2 * interval '1 millisecond')`,
      [now, REQUEST_AGAIN_AFTER_MS],
    );
    const cancelled = await find("state = 'cancelling'", []);
    const overdue = await find("state = 'running' and deadline_at <= $1", [now]);
    const lanes = await this.#store.query<{ lane: string }>(
      `select distinct run.lane from router.run left join router.lane on lane.key = run.lane
        where run.state = 'awaiting_turn' and lane.run_id is null limit ${AT_ONCE}`,
    );
    return { unanswered, cancelled, overdue, freeLanes: lanes.map(({ lane }) => lane) };
  }

  /** Asks for the present step again; nothing where somebody holds or answered it meanwhile. True where it was asked for. */
  requestAgain(runId: RunId): Promise<boolean> {
    return this.#store.transaction(async (transaction) => {
      const { row, run, slip } = await lockRun(transaction, runId);
      const request = requestAgain(run, slip);
      if (request === undefined || !isDue(row, this.#clock())) return false;
      const held = await transaction.query(`select 1 from flow.lease where key = $1 and ${leaseIsHeld}`, [
        stepLeaseKey(request),
      ]);
      if (held.length > 0) return false;
      const requests = row.requests + 1;
      transaction.em.assign(row, { requests, requestedAt: this.#clock() });
      // The same id: a worker that answered it gives its answer again, and a broker that still has it drops it.
      const trace = await readTrace(transaction, runId);
      await transaction.publish(contractOf(request), request, trace === undefined ? {} : { trace });
      return true;
    });
  }
}

/**
 * Checked again under the lock: another sweeper, or the next step, may have been faster. What was asked for in the future was asked
 * for before the clock went back.
 */
function isDue({ requestedAt, requests }: Pick<RunRow, 'requestedAt' | 'requests'>, now: Date): boolean {
  if (requestedAt == null) return false;
  const waitedMs = now.getTime() - requestedAt.getTime();
  const waitMs = Math.min(2 ** requests, LONGEST_WAIT) * REQUEST_AGAIN_AFTER_MS;
  return waitedMs > waitMs || waitedMs < -REQUEST_AGAIN_AFTER_MS;
}
