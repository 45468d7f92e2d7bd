import { GateDecided, StepRequestedEvent } from '@flotilla/contracts/events/run-events';
import { expect, test } from 'vitest';
import { listDecisions } from './list-decisions.ts';
import { createLog, second } from './log.fixture.ts';

test('every decision is told with who made it, when, and their words, in the order of the log', () => {
  const log = createLog();
  const { gateId } = GateDecided.example;
  log.add(GateDecided, { gateId, decision: 'request_changes', by: 'ann', commit: 'a'.repeat(40), comment: 'Keep it.' });
  log.add(StepRequestedEvent, { verb: 'build' }, { stepId: 'build', attempt: 2 });
  log.add(GateDecided, { gateId, decision: 'approve', by: 'bob', commit: 'b'.repeat(40) });
  expect(listDecisions(log.entries)).toEqual([
    { gateId, decision: 'request_changes', by: 'ann', commit: 'a'.repeat(40), comment: 'Keep it.', at: second(1) },
    { gateId, decision: 'approve', by: 'bob', commit: 'b'.repeat(40), at: second(3) },
  ]);
});
