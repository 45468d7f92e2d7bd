import type { SqlMigration } from '@flotilla/store/migrate';

/**
 * Texts of people and models may hold U+0000, which `jsonb` refuses, so they lie in `json`. The views in `published` are what
 * other services read; their columns only ever grow.
 */
export const routerMigrations: readonly SqlMigration[] = [
  {
    name: 'router-001-projects-runs-gates-lanes',
    up: [
      'create schema if not exists router',
      `create table router.project (
         name text primary key,
         definition json not null,
         created_at timestamptz not null
       )`,
      `create table router.run (
         id text primary key,
         project text not null references router.project (name),
         external_key text,
         intake_id text unique,
         fingerprint text not null,
         retry_of text unique references router.run (id),
         retries integer not null,
         goal text not null,
         topology text not null,
         mode text not null,
         principal text not null,
         state text not null,
         step_id text,
         attempt integer,
         gate_id text,
         lane text,
         waiting_since timestamptz,
         requested_at timestamptz,
         requests integer not null,
         deadline_at timestamptz not null,
         result text,
         commit text,
         branch text,
         code text,
         message text,
         advice text,
         budget json not null,
         spent json not null,
         facts json not null,
         slip json not null,
         created_at timestamptz not null,
         ended_at timestamptz,
         unique (project, external_key),
         check ((state = 'ended') = (result is not null))
       )`,
      "create index run_under_way on router.run (requested_at) where state <> 'ended'",
      "create index run_waiting on router.run (lane, waiting_since) where state = 'awaiting_turn'",
      'create index run_of_project on router.run (project, id)',
      `create table router.gate (
         id text primary key,
         run_id text not null references router.run (id),
         step_id text not null,
         question text not null,
         commit text not null,
         change json not null,
         state text not null,
         opened_at timestamptz not null,
         decided_at timestamptz,
         decision text,
         decided_by text,
         comment text
       )`,
      'create index gate_of_run on router.gate (run_id, id)',
      'create index gate_of_state on router.gate (state, id)',
      `create table router.lane (
         key text primary key,
         run_id text,
         taken_at timestamptz
       )`,
      'create schema if not exists published',
      `create view published.project as
         select name, definition, created_at from router.project`,
      `create view published.run as
         select run.id as run_id, project, goal, topology, mode, principal, external_key, retry_of, state, step_id, result,
                commit, branch, code, message, advice, gate_id, budget, spent,
                (select traceparent from flow.log where log.run = run.id and log.sequence = 1) as traceparent,
                created_at, ended_at
           from router.run`,
      `create view published.gate as
         select gate.id as gate_id, run_id, run.project, run.goal, question, gate.state, change, opened_at, decided_at,
                decision, decided_by, comment
           from router.gate join router.run on run.id = gate.run_id`,
    ],
  },
  {
    name: 'router-002-projects-removed',
    up: ['alter table router.run drop constraint run_project_fkey'],
  },
  {
    name: 'router-003-archived-runs',
    up: [
      // Of an archived run a small row stays: its keys are taken for ever, and lists show it.
      'alter table router.run alter column facts drop not null',
      'alter table router.run alter column slip drop not null',
      'alter table router.run add column archived_at timestamptz',
      'alter table router.run add column archive text',
      // Names of objects that are still to be taken out of the buckets.
      'alter table router.run add column leftover json',
      `alter table router.run add constraint run_whole_or_archived
         check (case when archived_at is null then facts is not null and slip is not null else archive is not null end)`,
      "create index run_to_archive on router.run (ended_at) where state = 'ended' and archived_at is null",
      'create index run_leftover on router.run (archived_at) where leftover is not null',
      'create index run_of_result on router.run (result, id) where result is not null',
      `create or replace view published.run as
         select run.id as run_id, project, goal, topology, mode, principal, external_key, retry_of, state, step_id, result,
                commit, branch, code, message, advice, gate_id, budget, spent,
                (select traceparent from flow.log where log.run = run.id and log.sequence = 1) as traceparent,
                created_at, ended_at, archived_at, archive
           from router.run`,
      // Setups of runs under way, by key. Found in the text: operators of json refuse a document that holds U+0000 anywhere.
      `create view published.setup_in_use as
         select distinct substring(facts::text from '"setupKey"\\s*:\\s*"([^"\\\\]+)"') as key
           from router.run
          where state <> 'ended' and facts::text ~ '"setupKey"\\s*:\\s*"'`,
    ],
  },
  {
    // Until then `normal` was the freest mode and asked for nothing: runs under way go on with what they began with.
    name: 'router-004-modes-that-ask',
    // What is matched is no text of anybody: quotes in texts are escaped.
    up: [
      `update router.run
          set mode = 'auto', facts = regexp_replace(facts::text, '([{,])"mode":"normal"', '\\1"mode":"auto"')::json
        where mode = 'normal' and state <> 'ended'`,
    ],
  },
  {
    name: 'router-005-keys-of-a-repository',
    up: [
      'alter table router.run add column remote text',
      // The first key of that name in the facts is the project's, and quotes in texts are escaped. An archived run has no facts any more:
      // without a remote its key stays taken, whatever the project's remote is.
      `update router.run
          set remote = ('"' || found.remote || '"')::json #>> '{}'
         from (select id, substring(facts::text from '"remote"\\s*:\\s*"(([^"\\\\]|\\\\.)*)"') as remote
                 from router.run where external_key is not null and facts is not null) as found
        where found.id = run.id and found.remote !~ '\\\\u'`,
      'alter table router.run drop constraint run_project_external_key_key',
      'create unique index run_of_key on router.run (project, external_key, md5(remote))',
    ],
  },
];
