import { ReviewStepRequested } from '@flotilla/contracts/messages/review-step-requested';
import { VerifyStepRequested } from '@flotilla/contracts/messages/verify-step-requested';
import { publishMessage } from '@flotilla/stream/publish-message';
import { engineerScript } from '@flotilla/testing/scripted-model/engineer-script';
import { openServiceBench } from '@flotilla/workplace/service.fixture';
import { slugify } from '@flotilla/workplace/workplace.fixture';
import { expect, test } from 'vitest';
import { reviewerService } from './reviewer.module.ts';

test('a review and a verification asked over the broker are answered with evidence for the tree', async () => {
  await using bench = await openServiceBench(engineerScript({ edits: [] }));
  const { host, remote, base, bucket } = bench;
  const service = await bench.start(reviewerService);
  const review = ReviewStepRequested.payload.parse(ReviewStepRequested.example);
  const verify = VerifyStepRequested.payload.parse(VerifyStepRequested.example);
  const fixed = slugify['slugify.js'].replace('[^a-z]+', '[^a-z0-9]+');
  const commit = remote.author({ 'slugify.js': fixed }, base.commit);
  await bucket.put('change', remote.bundle(commit, [base.commit]));
  const tree = remote.treeOf(commit);
  const change = { ...review.change, commit, tree, base: base.commit, bundle: 'change' };

  await publishMessage(host.broker, ReviewStepRequested, { ...review, base, change, grants: { 'fs.read': true } });
  await publishMessage(host.broker, VerifyStepRequested, { ...verify, base, candidate: change });
  const evidence = { tree, checks: ['npm test'] };
  expect(await bench.outcomeOf(review)).toMatchObject({ kind: 'done', result: { verb: 'review', evidence } });
  expect(await bench.outcomeOf(verify)).toMatchObject({ kind: 'done', result: { verb: 'verify', evidence } });
  await service.close();
  expect(bench.containers()).toEqual([]);
});
