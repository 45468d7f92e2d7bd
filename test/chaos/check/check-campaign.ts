import type { CampaignFacts, Violation } from './campaign-facts.ts';
import { checkLandings } from './check-landings.ts';
import { checkLog } from './check-log.ts';
import { checkSpent } from './check-spent.ts';
import { checkTasks } from './check-tasks.ts';

/** Holds what is left of a campaign against what Flotilla promises; empty when every promise was kept. */
export function checkCampaign(facts: CampaignFacts): readonly Violation[] {
  return [
    ...checkTasks(facts),
    ...facts.runs.flatMap((run) => {
      const log = facts.logs.get(run.runId) ?? [];
      return [...checkLog(run, log), ...checkSpent(run, log)];
    }),
    ...checkLandings(facts),
    ...facts.leftovers.map(({ kind, name }) => ({
      rule: `no ${kind} is left`,
      about: name,
      found: 'it is still there',
    })),
  ];
}
