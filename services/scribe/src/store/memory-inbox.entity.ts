import { defineEntity } from '@mikro-orm/postgresql';

/** A memory that a model proposed. It has no authority until a person promotes it, and nothing reads it before. */
export const MemoryProposalEntity = defineEntity({
  name: 'MemoryProposal',
  tableName: 'memory_inbox',
  schema: 'scribe',
  properties: (p) => ({
    /** The run that it was learnt from; at most one a run. */
    runId: p.string().primary(),
    project: p.string(),
    kind: p.string(),
    title: p.text(),
    text: p.text(),
    state: p.string(),
    proposedAt: p.datetime(),
  }),
});

export const scribeEntities = [MemoryProposalEntity] as const;
