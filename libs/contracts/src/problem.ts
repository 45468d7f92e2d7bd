import { type ErrorDefinition, FlotillaError } from '@flotilla/errors/flotilla-error';
import { z } from 'zod';

/** An error as a client gets it: a problem of RFC 9457 with the code, who can put it right, and what to do next. */
export const Problem = z.object({
  type: z.string().describe('URN of the code.'),
  title: z.string().describe('The code in words.'),
  status: z.int().describe('HTTP status of the answer.'),
  detail: z.string().describe('What happened.'),
  code: z.string().describe('Code of the error catalogue; never reused.'),
  remedy: z
    .enum(['caller', 'operator', 'wait', 'retry'])
    .describe('Who or what puts it right: the caller, the operator, time, or another attempt.'),
  advice: z.string().describe('What the reader does next.'),
  traceId: z.string().optional().describe('The trace of the request.'),
  violations: z
    .array(
      z.object({
        path: z.string().describe('The field, with dots; empty: the whole.'),
        message: z.string().describe('What is wrong with it.'),
      }),
    )
    .optional()
    .describe('What is wrong with the request, field by field.'),
});
export type Problem = z.infer<typeof Problem>;

export const PROBLEM_MEDIA_TYPE = 'application/problem+json';

/** Details under the key `violations` become the problem's own field. */
export function problemOf(error: FlotillaError, traceId?: string): Problem {
  const violations = Problem.shape.violations.safeParse(error.details['violations']);
  return {
    type: `urn:flotilla:error:${error.code}`,
    title: titleOf(error.code),
    status: error.status,
    detail: error.message,
    code: error.code,
    remedy: error.remedy,
    advice: error.advice,
    ...(traceId === undefined ? {} : { traceId }),
    ...(violations.success && violations.data !== undefined ? { violations: violations.data } : {}),
  };
}

/** The error that a problem tells of, for whoever received one. */
export function errorOfProblem(problem: Problem): FlotillaError {
  const definition: ErrorDefinition = {
    code: problem.code,
    remedy: problem.remedy,
    summary: '{detail}',
    advice: '{advice}',
    status: problem.status,
  };
  const { detail, advice, violations } = problem;
  return new FlotillaError(definition, { detail, advice, ...(violations === undefined ? {} : { violations }) });
}

function titleOf(code: string): string {
  const words = code.toLowerCase().replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
