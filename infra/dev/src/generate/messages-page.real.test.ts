import { connect, type Socket } from 'node:net';
import type { JsMsg } from '@nats-io/jetstream';
import { renderNatsAuthorization } from '@flotilla/contracts/principals';
import { TaskSubmitted } from '@flotilla/contracts/messages/task-submitted';
import { serviceNames } from '@flotilla/contracts/services';
import { connectBroker } from '@flotilla/stream/connect-broker';
import { provisionConsumer, provisionStreams } from '@flotilla/stream/provision-streams';
import { pullMessages } from '@flotilla/stream/pull-messages';
import { type NatsServer, startNats } from '@flotilla/testing/servers/start-nats';
import { pollUntil } from '@flotilla/testing/servers/child-server';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { messagesPage, TASK_COMMAND } from './messages-page.ts';

const password = 'secret';
let nats: NatsServer;
beforeAll(async () => {
  const users = [...serviceNames, 'local'] as const;
  const passwords = Object.fromEntries(users.map((user) => [user, password])) as Record<(typeof users)[number], string>;
  nats = await startNats({ configuration: renderNatsAuthorization(passwords) });
});
afterAll(() => nats?.close());

/** The words of a line of a shell that quotes with '. */
const splitWords = (line: string) =>
  [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');

/** What is sent and received as the broker's protocol has it, without any client library. */
class PlainClient {
  readonly #socket: Socket;
  received = '';

  constructor(port: number) {
    this.#socket = connect(port, '127.0.0.1');
    this.#socket.on('data', (chunk: Buffer) => (this.received += chunk.toString()));
    const options = { user: 'local', pass: password, headers: true, no_responders: true, verbose: false };
    this.#socket.write(`CONNECT ${JSON.stringify(options)}\r\n`);
  }

  subscribe(subject: string, id: number): void {
    this.#socket.write(`SUB ${subject} ${id}\r\n`);
  }

  request(subject: string, replyTo: string, headers: readonly string[], payload: string): void {
    const head = `NATS/1.0\r\n${headers.map((header) => `${header.replace(':', ': ')}\r\n`).join('')}\r\n`;
    const sizes = `${Buffer.byteLength(head)} ${Buffer.byteLength(head + payload)}`;
    this.#socket.write(`HPUB ${subject} ${replyTo} ${sizes}\r\n${head}${payload}\r\n`);
  }

  close(): void {
    this.#socket.destroy();
  }
}

test('the command of the page puts its task on the queue, is told so, and gets the answer where it asked for it', async () => {
  expect(messagesPage().content).toContain(TASK_COMMAND);
  const [program, verb, subject = '', payload = '', ...options] = splitWords(TASK_COMMAND);
  expect([program, verb]).toEqual(['nats', 'req']);
  const headers = options.filter((word) => word !== '-H');

  const router = await connectBroker({
    url: nats.url,
    name: 'router',
    user: 'router',
    password,
    inboxPrefix: '_INBOX_router',
  });
  await provisionStreams(router);
  const client = new PlainClient(nats.port);
  try {
    client.subscribe('_INBOX.acknowledged', 1);
    client.subscribe('_INBOX.ticket-4711', 2);
    for (let times = 1; times <= 2; times += 1) client.request(subject, '_INBOX.acknowledged', headers, payload);
    await pollUntil('the broker says that it has it', 5_000, () => client.received.includes('"duplicate": true'));
    expect(client.received).toMatch(/MSG _INBOX\.acknowledged 1 +\d+\r\n\{"stream":"TASKS", ?"seq":1\}/);

    const consumer = await provisionConsumer(router, 'router', TaskSubmitted);
    const pulled: JsMsg[] = [];
    const { signal } = new AbortController();
    await pullMessages(consumer, { count: 1, expiresMs: 5_000, signal, take: (message) => pulled.push(message) });
    const [task] = pulled;
    expect(TaskSubmitted.payload.parse(task?.json())).toEqual(TaskSubmitted.payload.parse(TaskSubmitted.example));
    router.nc.publish(task?.headers?.get('Flotilla-Answer-To') ?? '', '{"runId":"run_1","created":true}');
    await pollUntil('the answer arrives', 5_000, () => client.received.includes('MSG _INBOX.ticket-4711 2'));
    expect(client.received).not.toContain('-ERR');
  } finally {
    client.close();
    await router.close();
  }
});
