import { ListRuns } from '@flotilla/contracts/calls/list-runs';
import { RunId } from '@flotilla/contracts/ids';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { z } from 'zod';
import type { Session } from '../session.ts';
import type { VerbArgument } from '../verb.ts';

/** Argument of every verb about one run. */
export const runArgument: VerbArgument = { name: 'run', summary: 'id of the run, or "latest" for the newest one' };

export const RunReference = z.union([RunId, z.literal('latest')], 'a run id looks like run_01j9z3k8m2n4p6q8r0s2t4v6w8');
export type RunReference = z.infer<typeof RunReference>;

export async function findRunId(reference: RunReference, session: Session): Promise<RunId> {
  if (reference !== 'latest') return reference;
  const { runs } = await (await session.api()).call(ListRuns, { limit: 1 });
  const [newest] = runs;
  if (newest === undefined) throw new FlotillaError(errors.runUnknown, { runId: 'yet' });
  return newest.runId;
}
