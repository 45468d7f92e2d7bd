import type { CampaignFacts, Violation } from './campaign-facts.ts';

/** Every task has exactly one run, every run exactly one end state, and no fault that came right again failed it. */
export function checkTasks({ tasks, runs, logs }: CampaignFacts): readonly Violation[] {
  const published = new Set(tasks.map(({ externalKey }) => externalKey));
  return [
    ...[...published].flatMap((key) => {
      const found = runs.filter(({ externalKey }) => externalKey === key).length;
      return found === 1 ? [] : [{ rule: 'a task is one run', about: key, found: `${found} runs` }];
    }),
    ...runs
      .filter(({ externalKey }) => !published.has(externalKey))
      .map(({ runId }) => ({ rule: 'a run has a task', about: runId, found: 'nobody published it' })),
    ...runs
      .filter(({ state }) => state !== 'ended')
      .map(({ runId, state }) => ({ rule: 'nothing is stuck', about: runId, found: `it is ${state}` })),
    ...runs
      .filter(({ result }) => result === 'failed' || result === 'limit_reached')
      .map(({ runId, result, message }) => ({
        rule: 'what passes fails no run',
        about: runId,
        found: `${result}: ${message}`,
      })),
    ...runs.flatMap(({ runId, state, result }) => {
      const ends = (logs.get(runId) ?? []).filter(({ type }) => type === 'run.ended');
      if (state !== 'ended') return [];
      if (ends.length !== 1)
        return [{ rule: 'a run ends once', about: runId, found: `${ends.length} ends in its log` }];
      const logged = ends[0]?.payload['result'];
      return logged === result
        ? []
        : [
            {
              rule: 'the end in the log is the end of the run',
              about: runId,
              found: `${String(logged)}, not ${result}`,
            },
          ];
    }),
  ];
}
