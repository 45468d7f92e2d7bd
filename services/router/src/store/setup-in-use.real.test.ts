import { afterAll, beforeAll, expect, test } from 'vitest';
import { ann, createRouterFixture, type RouterFixture } from './router.fixture.ts';

let fixture: RouterFixture;
beforeAll(async () => {
  fixture = await createRouterFixture();
});
afterAll(() => fixture.close());

const keys = () => fixture.store.query<{ key: string }>('select key from published.setup_in_use');

test('setups of runs under way are told, whatever texts the runs hold, until they end', async () => {
  const runId = await fixture.submit({ goal: 'Keep \u0000 digits.' });
  expect(await keys()).toEqual([]);
  await fixture.until(runId, 'build');
  const { known } = await fixture.readRun(runId);
  expect(known.setupKey).not.toBeNull();
  expect(await keys()).toEqual([{ key: known.setupKey }]);
  await fixture.runs.cancel(runId, ann);
  expect(await keys()).toEqual([]);
});
