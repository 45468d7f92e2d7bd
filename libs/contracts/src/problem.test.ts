import { defineError, FlotillaError } from '@flotilla/errors/flotilla-error';
import { expect, test } from 'vitest';
import { errorOfProblem, Problem, problemOf } from './problem.ts';

const definition = defineError({
  code: 'PROJECT_UNKNOWN',
  remedy: 'caller',
  status: 404,
  summary: 'There is no project {project}',
  advice: 'Add {project} first.',
});

test('an error survives the way over the wire and back', () => {
  const error = new FlotillaError(definition, { project: 'a {b} c' });
  const problem = Problem.parse(JSON.parse(JSON.stringify(problemOf(error, 'trace'))));
  expect(problem).toMatchObject({ title: 'Project unknown', traceId: 'trace', detail: 'There is no project a {b} c' });
  const back = errorOfProblem(problem);
  expect([back.code, back.remedy, back.status, back.message, back.advice]).toEqual([
    error.code,
    error.remedy,
    error.status,
    error.message,
    error.advice,
  ]);
});

test('violations are the only detail a client sees', () => {
  const violations = [{ path: 'goal', message: 'missing' }];
  const problem = problemOf(new FlotillaError(definition, { project: 'x', secret: 's', violations }));
  expect(problem.violations).toEqual(violations);
  expect(JSON.stringify(problem)).not.toContain('secret');
});
