import { afterAll, beforeAll, expect, test } from 'vitest';
import { RunSweeper } from './run-sweeper.ts';
import { ann, createRouterFixture, type RouterFixture } from './store/router.fixture.ts';

let fixture: RouterFixture;
const troubles: unknown[] = [];
beforeAll(async () => {
  fixture = await createRouterFixture();
});
afterAll(() => fixture.close());

const createSweeper = () =>
  new RunSweeper({
    runs: fixture.runs,
    sweeps: fixture.sweep,
    everyMs: 20,
    onTrouble: (task, error) => troubles.push([task, error]),
  });
const stateOf = async (runId: string) =>
  (await fixture.store.query<{ state: string }>('select state from router.run where id = $1', [runId]))[0]?.state;

test('two sweepers at once ask for a lost step once', async () => {
  const runId = await fixture.submit();
  fixture.passTime(61);
  await Promise.all([createSweeper().sweep(), createSweeper().sweep()]);
  expect((await fixture.messages(runId)).map(({ message_id }) => message_id)).toEqual([
    `${runId}/open/1/requested`,
    `${runId}/open/1/requested`,
  ]);
  await fixture.runs.cancel(runId, ann);
});

test('a sweeper goes on by itself until it is stopped', async () => {
  const runId = await fixture.submit();
  const sweeper = createSweeper();
  sweeper.onApplicationBootstrap();
  fixture.passTime(4 * 3600);
  await expect.poll(() => stateOf(runId)).toBe('ended');
  await sweeper.onApplicationShutdown();
  expect(troubles).toEqual([]);
});

test('what fails in one task of a sweep does not keep the others from being done', async () => {
  const [first, second] = [await fixture.submit(), await fixture.submit()];
  fixture.passTime(4 * 3600);
  const told: string[] = [];
  const runs = {
    endCancelled: fixture.runs.endCancelled.bind(fixture.runs),
    grantTurn: fixture.runs.grantTurn.bind(fixture.runs),
    passDeadline: (runId: typeof first) =>
      runId === first ? Promise.reject(new Error('lost')) : fixture.runs.passDeadline(runId),
  };
  await new RunSweeper({ runs, sweeps: fixture.sweep, everyMs: 20, onTrouble: (task) => told.push(task) }).sweep();
  expect(told).toEqual(['pass_deadline']);
  expect([await stateOf(first), await stateOf(second)]).toEqual(['running', 'ended']);
});
