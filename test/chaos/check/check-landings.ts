import type { CampaignFacts, Violation } from './campaign-facts.ts';

/** Nothing lands twice, everything that landed was meant to, and the very tree that landed had passed its checks. */
export function checkLandings({ runs, logs, landings }: CampaignFacts): readonly Violation[] {
  const ofRun = (runId: string) => landings.filter(({ run }) => run === runId);
  const known = new Set(runs.map(({ runId }) => runId));
  return [
    ...runs.flatMap(({ runId, result }) => {
      const found = ofRun(runId).length;
      const wanted = result === 'landed' ? 1 : 0;
      return found === wanted
        ? []
        : [
            {
              rule: 'what ended as landed landed once, and nothing else',
              about: runId,
              found: `${found} times on the branch, ended ${result}`,
            },
          ];
    }),
    ...runs
      .filter(({ runId, result, commit }) => result === 'landed' && ofRun(runId)[0]?.commit !== commit)
      .map(({ runId, commit }) => ({
        rule: 'the commit that a run names is on the branch',
        about: runId,
        found: `${commit}, and on the branch ${ofRun(runId)[0]?.commit}`,
      })),
    ...landings
      .filter(({ run }) => run === undefined || !known.has(run))
      .map(({ commit, run }) => ({ rule: 'only runs land', about: commit, found: run ?? 'no run in its trailer' })),
    ...landings.flatMap(({ run, tree, commit }) => {
      const evidence = (logs.get(run ?? '') ?? []).filter(({ type }) => type === 'checks.passed');
      return evidence.some(({ payload }) => payload['tree'] === tree)
        ? []
        : [
            {
              rule: 'a landed tree has evidence',
              about: commit,
              found: `no checks passed on ${tree} in the log of ${run}`,
            },
          ];
    }),
  ];
}
