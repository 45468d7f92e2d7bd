import { afterAll, beforeAll, expect, test } from 'vitest';
import { pruneFlow } from './outbox.ts';
import { createStoreFixture } from './store.fixture.ts';

let fixture: Awaited<ReturnType<typeof createStoreFixture>>;
beforeAll(async () => {
  fixture = await createStoreFixture();
});
afterAll(() => fixture.close());

test('what was published and handled long ago goes, however much it is; what is young, or still to be done, stays', async () => {
  const { store } = fixture;
  const age = "now() - case when n % 4 = 0 then 29 else 31 end * interval '1 day'";
  const done = (column: string) => `case when n % 4 = 1 then null else ${column} end`;
  const numbers = 'generate_series(1, 25000) as n';
  await store.query(
    `insert into flow.outbox (message_id, subject, payload, headers, created_at, published_at)
     select n, 'x', '{}', '{}', ${age}, ${done(age)} from ${numbers}`,
  );
  await store.query(
    `insert into flow.inbox (message_id, stage, handled_at) select n, 'x', ${done(age)} from ${numbers}`,
  );
  await store.query(
    `insert into flow.lease (key, holder, fence, expires_at) select n, 'x', n, ${age} from generate_series(1, 4) as n`,
  );
  await pruneFlow(store, { days: 30 });
  const count = async (table: string) => (await store.query(`select 1 from flow.${table}`)).length;
  expect([await count('outbox'), await count('inbox'), await count('lease')]).toEqual([12_500, 12_500, 1]);
});
