import type { CampaignReport } from './run-campaign.ts';

/** A campaign in words, for a person. */
export function describeCampaign(campaign: CampaignReport): string {
  const { seed, seconds, struck, results, acksLost, quietAfterSeconds, violations } = campaign;
  const counts = new Map<string, number>();
  for (const { name } of struck) counts.set(name, (counts.get(name) ?? 0) + 1);
  const lines = [
    '',
    `Seed ${seed}: ${struck.length} faults in ${seconds} s, ${acksLost} acknowledgements lost`,
    ...[...counts].map(([name, times]) => `  ${times} x ${name}`),
    `Runs: ${Object.entries(results)
      .map(([result, count]) => `${count} ${result}`)
      .join(', ')}; quiet ${quietAfterSeconds} s after the last fault`,
    violations.length === 0 ? 'Every promise was kept.' : `${violations.length} promises were not kept:`,
    ...violations.map(({ rule, about, found }) => `  ${rule}: ${about}: ${found}`),
  ];
  return `${lines.join('\n')}\n`;
}
