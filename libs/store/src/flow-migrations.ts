import type { SqlMigration } from './sql-migration.ts';

/**
 * The schema every service shares. Payloads are `json`, not `jsonb`: a tool's output may hold U+0000, which `jsonb` refuses.
 */
export const flowMigrations: readonly SqlMigration[] = [
  {
    name: 'flow-001-log-outbox-inbox-lease',
    up: [
      'create schema if not exists flow',
      `create table flow.cursor (
         run text primary key,
         last integer not null
       )`,
      `create table flow.log (
         run text not null,
         sequence integer not null,
         step text,
         attempt integer,
         type text not null,
         payload json,
         spill text,
         traceparent text,
         tracestate text,
         at timestamptz not null,
         primary key (run, sequence),
         check ((payload is null) <> (spill is null))
       )`,
      'create index log_step on flow.log (run, step, attempt, sequence) where step is not null',
      'create index log_type on flow.log (run, type, sequence)',
      `create table flow.outbox (
         id bigint generated always as identity primary key,
         message_id text not null,
         subject text not null,
         payload text not null,
         headers json not null,
         cause text,
         created_at timestamptz not null default clock_timestamp(),
         taken_at timestamptz,
         published_at timestamptz
       )`,
      'create index outbox_waiting on flow.outbox (id) where published_at is null',
      'create index outbox_cause on flow.outbox (cause) where cause is not null',
      'create index outbox_published on flow.outbox (published_at) where published_at is not null',
      `create table flow.inbox (
         message_id text not null,
         stage text not null,
         deliveries integer not null default 0,
         open integer not null default 0,
         failures integer not null default 0,
         last_delivery_at timestamptz not null default clock_timestamp(),
         handled_at timestamptz,
         primary key (message_id, stage)
       )`,
      'create index inbox_handled on flow.inbox (handled_at) where handled_at is not null',
      'create sequence flow.fence',
      `create table flow.lease (
         key text primary key,
         holder text not null,
         fence bigint not null,
         expires_at timestamptz not null
       )`,
    ],
  },
];
