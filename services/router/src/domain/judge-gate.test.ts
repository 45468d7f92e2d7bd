import { expect, test } from 'vitest';
import { whyDecisionRefused, type GateFacts, type WantedDecision } from './judge-gate.ts';
import { ann, commit, gateNumber, runId } from './run.fixture.ts';

const gate: GateFacts = { gateId: gateNumber(1), runId, commit: commit('c'), state: 'open' };
const wanted: WantedDecision = { gateId: gateNumber(1), decision: 'approve', commit: commit('c') };

test.each([
  ['an open gate is decided on its commit', gate, wanted, undefined, undefined],
  ['a gate that is not there', undefined, wanted, 'GATE_UNKNOWN', 404],
  ['a second approval', { ...gate, state: 'decided', decision: 'approve', by: ann }, wanted, 'GATE_DECIDED', 409],
  ['a gate of a run that ended', { ...gate, state: 'withdrawn' }, wanted, 'GATE_WITHDRAWN', 409],
  ['an approval of another commit', gate, { ...wanted, commit: commit('d') }, 'GATE_COMMIT_DIFFERS', 409],
  [
    'a change request that says nothing',
    gate,
    { ...wanted, decision: 'request_changes', comment: '  ' },
    'GATE_COMMENT_MISSING',
    400,
  ],
  [
    'a change request that says something',
    gate,
    { ...wanted, decision: 'request_changes', comment: 'More.' },
    undefined,
    undefined,
  ],
] satisfies [string, GateFacts | undefined, WantedDecision, string | undefined, number | undefined][])(
  '%s: %s',
  (_, facts, decision, code, status) => {
    const refusal = whyDecisionRefused(facts, decision);
    expect(refusal?.code).toBe(code);
    expect(refusal?.status).toBe(status);
  },
);
