import type { SqlMigration } from '@flotilla/store/migrate';

export const scribeMigrations: readonly SqlMigration[] = [
  {
    name: 'scribe-001-memory-inbox',
    up: [
      'create schema if not exists scribe',
      `create table scribe.memory_inbox (
         run_id text primary key,
         project text not null,
         kind text not null check (kind in ('learning', 'pattern', 'decision')),
         title text not null,
         text text not null,
         state text not null default 'proposed' check (state in ('proposed', 'promoted', 'dismissed')),
         proposed_at timestamptz not null
       )`,
      'create index memory_inbox_project on scribe.memory_inbox (project, proposed_at)',
    ],
  },
];
