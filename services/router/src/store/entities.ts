import type { Allowance, Spent } from '@flotilla/contracts/allowance';
import type { Change } from '@flotilla/contracts/change';
import type { Project } from '@flotilla/contracts/project';
import type { Slip } from '@flotilla/workflow/slip';
import { defineEntity, type InferEntity } from '@mikro-orm/postgresql';
import type { RunState } from '../domain/run-state.ts';

export const ProjectEntity = defineEntity({
  name: 'RouterProject',
  tableName: 'project',
  schema: 'router',
  properties: (p) => ({
    name: p.string().primary(),
    definition: p.json<Project>().columnType('json'),
    createdAt: p.datetime(),
  }),
});

/** The columns repeat what queries look for; `facts` holds the whole run and is what decisions are made of. */
export const RunEntity = defineEntity({
  name: 'RouterRun',
  tableName: 'run',
  schema: 'router',
  properties: (p) => ({
    id: p.string().primary(),
    project: p.string(),
    /** Of the project when the run was accepted. Null in runs that are older than the column and have no key or were archived. */
    remote: p.text().nullable(),
    externalKey: p.string().nullable(),
    intakeId: p.string().nullable(),
    fingerprint: p.string(),
    retryOf: p.string().nullable(),
    retries: p.integer(),
    goal: p.text(),
    topology: p.string(),
    mode: p.string(),
    principal: p.string(),
    state: p.string(),
    stepId: p.string().nullable(),
    attempt: p.integer().nullable(),
    gateId: p.string().nullable(),
    lane: p.string().nullable(),
    waitingSince: p.datetime().nullable(),
    requestedAt: p.datetime().nullable(),
    requests: p.integer(),
    deadlineAt: p.datetime(),
    result: p.string().nullable(),
    commit: p.string().nullable(),
    branch: p.string().nullable(),
    code: p.string().nullable(),
    message: p.text().nullable(),
    advice: p.text().nullable(),
    budget: p.json<Allowance>().columnType('json'),
    spent: p.json<Spent>().columnType('json'),
    /** Null once archived, as the slip is. */
    facts: p.json<RunState>().columnType('json').nullable(),
    slip: p.json<Slip>().columnType('json').nullable(),
    createdAt: p.datetime(),
    endedAt: p.datetime().nullable(),
    archivedAt: p.datetime().nullable(),
    archive: p.text().nullable(),
  }),
});
export type RunRow = InferEntity<typeof RunEntity>;

export const GateEntity = defineEntity({
  name: 'RouterGate',
  tableName: 'gate',
  schema: 'router',
  properties: (p) => ({
    id: p.string().primary(),
    runId: p.string(),
    stepId: p.string(),
    question: p.text(),
    commit: p.string(),
    change: p.json<Change>().columnType('json'),
    state: p.string(),
    openedAt: p.datetime(),
    decidedAt: p.datetime().nullable(),
    decision: p.string().nullable(),
    decidedBy: p.string().nullable(),
    comment: p.text().nullable(),
  }),
});

export type GateRow = InferEntity<typeof GateEntity>;

export const routerEntities = [ProjectEntity, RunEntity, GateEntity] as const;
