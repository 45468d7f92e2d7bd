import { z } from 'zod';
import { defineCall } from '../define-call.ts';
import { GateId } from '../ids.ts';
import { exampleGate, Gate } from './gate-view.ts';
import { Finding } from './shapes.ts';

export const ShowGate = defineCall({
  name: 'showGate',
  kind: 'query',
  servedBy: 'gateway',
  roles: ['read'],
  summary: 'Shows one gate with what the review said about its change.',
  http: { method: 'GET', path: '/v1/gates/{gateId}' },
  request: z.strictObject({ gateId: GateId.meta({ field: 1 }) }),
  response: z.object({
    gate: Gate.meta({ field: 1, description: 'The gate and its change.' }),
    review: z.string().optional().meta({ field: 2, description: "The reviewer's summary." }),
    findings: z.array(Finding).meta({ field: 3, description: 'Findings of the review, one by one.' }),
    checks: z.array(z.string()).meta({ field: 4, description: 'Checks that passed on exactly this tree.' }),
  }),
  errors: ['GATE_UNKNOWN'],
  cli: { verb: 'approve' },
  example: {
    request: { gateId: 'gate_01j9z3k8m2n4p6q8r0s2t4v6w8' },
    response: {
      gate: exampleGate,
      review: 'Small and tested.',
      findings: [{ severity: 'suggestion', text: 'Name the regular expression.' }],
      checks: ['npm test'],
    },
  },
});
