import { z } from 'zod';
import { defineCall } from '../define-call.ts';
import { CommitId, GateId, Principal, RunId } from '../ids.ts';
import { GateDecision } from './gate-view.ts';

export const DecideGate = defineCall({
  name: 'decideGate',
  kind: 'command',
  servedBy: 'router',
  roles: ['decide'],
  summary:
    'Decides an open gate, once and for all, as the person behind the token. The decision binds to `commit`: it is refused when the gate asks about another one.',
  http: { method: 'POST', path: '/v1/gates/{gateId}/decision' },
  request: z.strictObject({
    gateId: GateId.meta({ field: 1 }),
    decision: GateDecision.meta({ field: 2, description: 'What is decided, once and for all.' }),
    commit: CommitId.meta({ field: 3, description: 'The commit that was looked at.' }),
    comment: z
      .string()
      .trim()
      .min(1)
      .max(16_384)
      .optional()
      .meta({ field: 4, description: 'For the author; wanted with request_changes.' }),
  }),
  response: z.object({
    gateId: GateId.meta({ field: 1 }),
    runId: RunId.meta({ field: 2 }),
    decision: GateDecision.meta({ field: 3, description: 'What was decided.' }),
    by: Principal.meta({ field: 4, description: 'Principal who decided.' }),
    commit: CommitId.meta({ field: 5, description: 'The commit that was decided on.' }),
  }),
  errors: [
    'GATE_UNKNOWN',
    'GATE_DECIDED',
    'GATE_WITHDRAWN',
    'GATE_COMMIT_DIFFERS',
    'GATE_COMMENT_MISSING',
    'RUN_ARCHIVED',
  ],
  cli: { verb: 'approve' },
  example: {
    request: { gateId: 'gate_01j9z3k8m2n4p6q8r0s2t4v6w8', decision: 'approve', commit: 'c'.repeat(40) },
    response: {
      gateId: 'gate_01j9z3k8m2n4p6q8r0s2t4v6w8',
      runId: 'run_01j9z3k8m2n4p6q8r0s2t4v6w8',
      decision: 'approve',
      by: 'local',
      commit: 'c'.repeat(40),
    },
  },
});
