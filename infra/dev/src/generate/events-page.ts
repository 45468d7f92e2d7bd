import { eventCatalogue } from '@flotilla/contracts/log-entry';
import { describeFields } from './describe-fields.ts';
import { code, markdownPage, type Page, renderJson, renderTable } from './page.ts';

export function eventsPage(): Page {
  return markdownPage('events', 'Events', 'libs/contracts/src/log-entry.ts', [
    'Every kind of entry in the log of a run, as `flotilla events`, `flotilla watch --json` and the HTTP calls `listEvents` and `watchRun` show it. An entry carries its run, sequence, step, attempt, type, payload, trace and time; the tables are of payloads. Sequences of a run have no gap. Entries about a run are written by the router, entries about a step by whoever holds its lease.',
    renderTable(
      ['Type', 'About', 'What'],
      eventCatalogue.map(({ type, scope, summary }) => [
        `[${code(type)}](#${type.replaceAll('.', '')})`,
        scope,
        summary,
      ]),
    ),
    ...eventCatalogue.map(({ type, summary, payload, example }) =>
      [`## ${type}`, summary, describeFields(payload), renderJson(example)].join('\n\n'),
    ),
  ]);
}
