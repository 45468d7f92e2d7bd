import type { Session } from '../session.ts';
import { describeFleet } from './choose-fleet.ts';

/** Says which fleet a decision goes to, where a person reads along: with several fleets it may not be the one in mind. */
export async function tellFleet(session: Pick<Session, 'fleet' | 'note' | 'json'>): Promise<void> {
  const { url, local } = await session.fleet();
  if (!session.json) session.note(`fleet ${local === undefined ? url : describeFleet(local)}`);
}
