import { findCommand } from '@flotilla/dev/find-command';
import { silentReport } from '@flotilla/dev/report';
import { expect, test } from 'vitest';
import { describeCampaign } from '../chaos/describe-campaign.ts';
import { runCampaign } from '../chaos/run-campaign.ts';

/** It ends its Docker engine, which therefore is one of its own. */
const canStartEngine = process.getuid?.() === 0 && (await findCommand('dockerd', process.env)) !== undefined;
/** About a minute on a machine that does nothing else. */
const patienceMs = 900_000;

test.skipIf(!canStartEngine)(
  'while everything breaks at random, nothing is lost, done twice, left behind or stuck',
  async () => {
    const campaign = await runCampaign({
      seed: 11,
      seconds: 25,
      tasks: 6,
      only: [],
      report: silentReport,
      signal: new AbortController().signal,
    });
    expect(campaign.violations, describeCampaign(campaign)).toEqual([]);
    expect(campaign.struck).not.toEqual([]);
  },
  patienceMs,
);
