import { Finding } from '@flotilla/contracts/change';
import { z } from 'zod';
import type { AgentReport, Role } from '../agent-task.ts';
import { defineTool, type Tool } from '../define-tool.ts';

/** The one tool every role has without a grant: it reaches nothing. */
export const finishId = 'agent.finish';

const text = z.string().trim().min(1).max(20_000);

const parametersOf = {
  planner: z.strictObject({
    plan: text.describe('A short plan: numbered steps that name files, and how the result is tested.'),
  }),
  executor: z.strictObject({ summary: text.describe('What you changed and why, in a few sentences.') }),
  reviewer: z
    .strictObject({
      verdict: z.enum(['approve', 'request_changes']),
      summary: text,
      findings: z
        .array(
          z.strictObject({
            severity: Finding.shape.severity.describe(
              'critical: wrong or unsafe; warning: should be better; suggestion: taste.',
            ),
            path: Finding.shape.path,
            line: Finding.shape.line,
            text: Finding.shape.text,
          }),
        )
        .max(50),
    })
    .refine(
      ({ verdict, findings }) => verdict === 'approve' || findings.length > 0,
      'request_changes needs a finding that says what to change',
    )
    .refine(
      ({ verdict, findings }) => verdict !== 'approve' || findings.every(({ severity }) => severity !== 'critical'),
      'a change with a critical finding is not approved',
    ),
  scribe: z.strictObject({
    summary: text.describe('What this run did, for somebody who was not there.'),
    memories: z
      .array(
        z.strictObject({
          kind: z.enum(['learning', 'pattern', 'decision']),
          title: z.string().min(1).max(120),
          text: z.string().min(1).max(2000),
        }),
      )
      .max(5)
      .describe('What later runs on this project should know; proposals only.'),
  }),
} as const;

export function finishTool(role: Role): Tool {
  return defineTool({
    id: finishId,
    summary: 'Ends your work and hands in its result. Call it once, alone, when you are done.',
    parameters: parametersOf[role],
    mutates: false,
    paths: () => [],
    describe: () => '',
    run: () => Promise.resolve({ ok: true, text: 'Handed in.' }),
  });
}

/** The report in the arguments of an accepted `finish`; undefined where they cannot be read. */
export function readReport(role: Role, args: unknown): AgentReport | undefined {
  switch (role) {
    case 'planner': {
      const parsed = parametersOf.planner.safeParse(args);
      return parsed.success ? { role, ...parsed.data } : undefined;
    }
    case 'executor': {
      const parsed = parametersOf.executor.safeParse(args);
      return parsed.success ? { role, ...parsed.data } : undefined;
    }
    case 'reviewer': {
      const parsed = parametersOf.reviewer.safeParse(args);
      return parsed.success ? { role, ...parsed.data } : undefined;
    }
    case 'scribe': {
      const parsed = parametersOf.scribe.safeParse(args);
      return parsed.success ? { role, ...parsed.data } : undefined;
    }
  }
}
