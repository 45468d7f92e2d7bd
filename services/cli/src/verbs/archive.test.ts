import { calls } from '@flotilla/contracts/call-catalogue';
import { beforeEach, expect, test } from 'vitest';
import { createFleetFixture, type FleetFixture, run, token } from '../fleet.fixture.ts';

let fleet: FleetFixture;
let environment: Record<string, string>;
beforeEach(async () => {
  fleet = await createFleetFixture();
  environment = { FLOTILLA_URL: fleet.url, FLOTILLA_TOKEN: token };
  return () => fleet.close();
});

const flotilla = (...argv: string[]) => run(['archive', ...argv], { environment });
const runId = 'run_01j9z3k8m2n4p6q8r0s2t4v6w8';
const other = 'run_01j9z3k9aaaaaaaaaaaaaaaaaa';
const archived = (id: string) => ({
  runId: id,
  state: 'archived',
  archive: { file: `2030-01/${id}.jsonl.gz`, at: '2030-04-02T00:00:00.000Z' },
});

test('runs are named, or all of an age, or as the fleet is configured', async () => {
  fleet.answer('archiveRuns', ({ runIds = [] }) => ({ runs: (runIds as string[]).map(archived), more: false }));
  await flotilla(runId, other);
  await flotilla('--older-than', '30d', '--dry-run');
  await flotilla();
  expect(fleet.received.map(({ request }) => request)).toEqual([
    { runIds: [runId, other], dryRun: false },
    { olderThanDays: 30, dryRun: true },
    { dryRun: false },
  ]);
  expect((await flotilla(runId, '--older-than', '30d')).exitCode).toBe(2);
  expect((await flotilla('--older-than', 'long')).exitCode).toBe(2);
});

test('it asks until nothing more is due, and gives one answer', async () => {
  const answers = [
    { runs: [archived(runId)], more: true },
    { runs: [archived(other)], more: false },
  ];
  fleet.answer('archiveRuns', () => answers.shift());
  const { out, exitCode } = await flotilla('--json');
  expect([exitCode, JSON.parse(out)]).toEqual([0, { runs: [archived(runId), archived(other)], more: false }]);
});

test('where nothing can be archived it does not ask for ever', async () => {
  const kept = { runId, state: 'kept', failure: { code: 'ARCHIVE_BUSY', message: 'At work.', advice: 'Wait.' } };
  fleet.answer('archiveRuns', () => ({ runs: [kept], more: true }));
  expect((await flotilla()).exitCode).toBe(4);
  expect(fleet.received).toHaveLength(1);
});

test('a run that is kept is told with its reason, and the exit code says so', async () => {
  const failure = { code: 'RUN_NOT_ENDED', message: 'The run is still under way', advice: 'Wait for its end.' };
  fleet.answer('archiveRuns', () => ({ runs: [archived(other), { runId, state: 'kept', failure }], more: false }));
  const { out, exitCode } = await flotilla(other, runId);
  expect(exitCode).toBe(4);
  expect(out).toMatch(
    new RegExp(`${other} +archived +2030-01/${other}[^]*${runId} +kept[^]*RUN_NOT_ENDED[^]*Wait for`),
  );
});

test('lists and show say that a run is archived, and where', async () => {
  const shown = calls.showRun.example.response;
  const ended = { ...shown.run, state: 'ended', gateId: undefined, archive: archived(runId).archive };
  fleet.answer('listRuns', () => ({ runs: [ended] }));
  fleet.answer('showRun', () => ({ ...shown, run: ended, gate: undefined, timeline: [] }));
  expect((await run(['list'], { environment })).out).toContain('ended: landed archived');
  expect((await run(['show', runId], { environment })).out).toContain(`2030-01/${runId}.jsonl.gz`);
});
