import type { Lease } from './lease.ts';
import type { OutboxRow } from './outbox.ts';
import type { Queries } from './queries.ts';

/** What ends the work on a message: its answer for the outbox, and its lease given back. */
export interface StepToAnswer {
  readonly messageId: string;
  readonly stage: string;
  readonly lease: Lease;
  readonly answer: Omit<OutboxRow, 'id'>;
}

/**
 * Marks messages as handled, writes their answers and gives their leases back, of different messages. Undefined, and nothing done,
 * where the lease is not current or another delivery was faster.
 */
export async function answerSteps(
  store: Queries,
  steps: readonly StepToAnswer[],
): Promise<readonly (OutboxRow | undefined)[]> {
  const rows = await store.query<{ id: string; cause: string }>(
    `with given as (
       select * from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::text[])
         with ordinality as given (message_id, stage, key, fence, answer_id, subject, payload, headers, place)),
     held as (
       select given.* from flow.lease join given on given.key = lease.key and given.fence = lease.fence for update of lease),
     handled as (
       insert into flow.inbox as inbox (message_id, stage, deliveries, handled_at)
       select message_id, stage, 1, clock_timestamp() from held order by message_id, stage
       on conflict (message_id, stage) do update set handled_at = clock_timestamp(), open = greatest(inbox.open - 1, 0)
        where inbox.handled_at is null
       returning message_id, stage),
     released as (
       delete from flow.lease using held join handled using (message_id, stage) where lease.key = held.key)
     insert into flow.outbox (message_id, subject, payload, headers, cause)
     select answer_id, subject, payload, headers::json, message_id
       from held join handled using (message_id, stage) order by place
     returning id, cause`,
    [
      steps.map(({ messageId }) => messageId),
      steps.map(({ stage }) => stage),
      steps.map(({ lease }) => lease.key),
      steps.map(({ lease }) => lease.fence),
      steps.map(({ answer }) => answer.messageId),
      steps.map(({ answer }) => answer.subject),
      steps.map(({ answer }) => answer.payload),
      steps.map(({ answer }) => JSON.stringify(answer.headers)),
    ],
  );
  const idOf = new Map(rows.map(({ id, cause }) => [cause, id]));
  return steps.map(({ messageId, answer }) => {
    const id = idOf.get(messageId);
    return id === undefined ? undefined : { ...answer, id };
  });
}
