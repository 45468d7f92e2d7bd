import { errors } from '@flotilla/errors/catalogue';
import { type ErrorDefinition, type Remedy, statusOf } from '@flotilla/errors/flotilla-error';
import { code, markdownPage, type Page, renderTable } from './page.ts';

const remedies: Readonly<Record<Remedy, string>> = {
  caller: 'the caller: the request is wrong',
  operator: 'the operator: the installation is wrong',
  wait: 'time: something is missing and comes back; waiting costs nothing',
  retry: 'another attempt, which counts against the budget',
};

export function errorsPage(): Page {
  const definitions: readonly ErrorDefinition[] = Object.values(errors);
  const sorted = definitions.toSorted((left, right) => left.code.localeCompare(right.code));
  return markdownPage('errors', 'Errors', 'libs/errors/src/catalogue.ts', [
    'Every error that is raised on purpose. Codes are never reused. Over HTTP an error is `application/problem+json` with this code, status and advice; a step that fails carries it in its outcome.',
    renderTable(
      ['Remedy', 'Put right by'],
      Object.entries(remedies).map(([remedy, who]) => [remedy, who]),
    ),
    renderTable(
      ['Code', 'Status', 'Remedy', 'What happened', 'What to do'],
      sorted.map((each) => [code(each.code), String(statusOf(each)), each.remedy, each.summary, each.advice]),
    ),
  ]);
}
