import { Problem } from '@flotilla/contracts/problem';
import { beforeEach, expect, test } from 'vitest';
import {
  createServerFixture,
  exampleRow,
  exampleRunId,
  fullToken,
  type ServerFixture,
} from '../http/server.fixture.ts';

const file = `2030-01/${exampleRunId}.jsonl.gz`;
const at = '2030-04-02T00:00:00.000Z';

let fixture: ServerFixture;
beforeEach(() => {
  fixture = createServerFixture();
  fixture.rows[0] = exampleRow({ state: 'ended', result: 'landed', archived_at: at, archive: file });
  return () => fixture.server.close();
});
const get = (url: string) =>
  fixture.server.inject({
    method: 'GET',
    url: `/v1/runs${url}`,
    headers: { host: 'localhost:4800', authorization: `Bearer ${fullToken}` },
  });

test('a list and the run itself say that it is archived, and where', async () => {
  const [list, shown] = [await get(''), await get(`/${exampleRunId}`)];
  expect(list.json()).toMatchObject({ runs: [{ result: 'landed', archive: { file, at } }] });
  expect(shown.json()).toMatchObject({ run: { archive: { file, at } }, timeline: [] });
});

test.each(['log', 'events', 'diff', 'output'])(
  'the %s of an archived run is refused with where to look',
  async (part) => {
    const response = await get(`/${exampleRunId}/${part}`);
    const { code, advice } = Problem.parse(response.json());
    expect([response.statusCode, code]).toEqual([409, 'RUN_ARCHIVED']);
    expect(advice).toContain(`flotilla show ${exampleRunId}`);
  },
);
