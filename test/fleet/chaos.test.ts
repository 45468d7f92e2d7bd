import { silentReport } from '@flotilla/dev/report';
import { expect, test } from 'vitest';
import { describeCampaign } from '../chaos/describe-campaign.ts';
import { runCampaign } from '../chaos/run-campaign.ts';

test('while everything breaks at random, nothing is lost, done twice, left behind or stuck', async () => {
  const campaign = await runCampaign({
    seed: 11,
    seconds: 25,
    tasks: 6,
    only: [],
    report: silentReport,
    signal: new AbortController().signal,
  });
  expect(campaign.violations, describeCampaign(campaign)).toEqual([]);
  expect(campaign.struck.length).toBeGreaterThan(5);
});
