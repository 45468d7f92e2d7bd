import { catalogue } from '@flotilla/contracts/catalogue';
import { headers } from '@flotilla/contracts/headers';
import { DUPLICATE_WINDOW_MS, intakeSubject, streams } from '@flotilla/contracts/streams';
import { TaskSubmitted } from '@flotilla/contracts/messages/task-submitted';
import { describeFields } from './describe-fields.ts';
import { code, markdownPage, type Page, renderJson, renderTable } from './page.ts';

export function messagesPage(): Page {
  return markdownPage('messages', 'Messages', 'libs/contracts/src/catalogue.ts', [
    'Every message that crosses a service boundary over JetStream. A message is JSON; services drop fields they do not know, the queue refuses them.',
    ...describeQueue(),
    '## Streams',
    renderTable(
      ['Stream', 'Subjects', 'Kept', 'What'],
      Object.values(streams).map(({ name, subjects, retention, maxAgeMs, summary }) => [
        name,
        subjects.map(code).join(', '),
        retention === 'workqueue' ? 'until acknowledged' : `${(maxAgeMs ?? 0) / 86_400_000} days`,
        summary,
      ]),
    ),
    '## Headers',
    renderTable(
      ['Header', 'Meaning'],
      [
        [
          code('Nats-Msg-Id'),
          `Names the occasion; a repeat within ${DUPLICATE_WINDOW_MS / 60_000} minutes is dropped by the broker; of a task it is its publisher's, and the router keeps it for ever.`,
        ],
        [`${code(headers.traceparent)}, ${code(headers.tracestate)}`, 'W3C trace context.'],
        [code(headers.answerTo), 'On a task: the subject that the run id or the refusal is sent to.'],
        [code(headers.error), 'On the answer of a call that failed: the code of the error.'],
      ],
    ),
    ...catalogue.map((contract) =>
      [
        `## ${contract.name}`,
        contract.summary,
        `${code(contract.subject)} in ${contract.stream}, from ${contract.producers.join(', ')} to ${contract.consumer}, version ${contract.version}.`,
        describeFields(contract.payload),
        renderJson(contract.example),
      ].join('\n\n'),
    ),
  ]);
}

function describeQueue(): readonly string[] {
  return [
    '## Putting a task on the queue',
    `Any NATS client may publish a task, as JSON, on ${code(intakeSubject())} as the local user, or on ${code(intakeSubject('<principal>'))} as a publisher with a user of its own: who asks is the last word of the subject, which the broker's permissions vouch for, and never a field. A publisher hears its own inbox and nothing else of the broker; how its runs go on is read over HTTP ([watchRun](calls.md#watchrun)).`,
    `Publish as a request: its answer, ${code('{"stream":"TASKS","seq":1}')}, says that the broker has the task, and one that holds ${code('error')} that it has not. A publish with the JetStream call of a client library is such a request; a plain publish tells nothing, and is lost where the broker is not well. The run exists once the router has committed it.`,
    `Set ${code('externalKey')} in the task, or ${code('Nats-Msg-Id')} to a key of yours: the same task again is then the same run, for ever, and is answered as such.`,
    `To hear what became of it, subscribe to an inbox (${code('_INBOX.…')}, or ${code('_INBOX_<principal>.…')} for a publisher with its own user) and name it in the header ${code(headers.answerTo)}. The answer is ${code('{"runId":"run_…","created":true}')}, or the refusal as a problem with ${code('code')} and ${code('advice')}, its code also in the header ${code(headers.error)}.`,
    `With the ${code('nats')} command line, and in ${code('NATS_URL')} the address that ${code('npm start')} prints:`,
    ['```sh', 'nats sub --count 1 _INBOX.ticket-4711 &', TASK_COMMAND, '```'].join('\n'),
    `A publisher with a user of its own adds ${code('--inbox-prefix _INBOX_<principal>')}. A task that is refused is a dead letter too: see ${code('flotilla dead list')}.`,
  ];
}

/** Puts the example of the contract on the queue, and waits for the broker to say that it has it. */
export const TASK_COMMAND = [
  `nats req ${intakeSubject()}`,
  `'${JSON.stringify(TaskSubmitted.example)}'`,
  '-H Nats-Msg-Id:ticket-4711',
  `-H ${headers.answerTo}:_INBOX.ticket-4711`,
].join(' ');
