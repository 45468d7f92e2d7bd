import { headers as names } from '@flotilla/contracts/headers';
import type { Task } from '@flotilla/contracts/messages/task-submitted';
import { TaskSubmitted } from '@flotilla/contracts/messages/task-submitted';
import { fleetErrors } from '@flotilla/errors/catalogue/fleet';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { connect, createInbox, headers } from '@nats-io/transport-node';

const answerWithinMs = 30_000;

/**
 * Publishes a task as any NATS client can: JSON on the subject of the queue, with a header that names where the answer goes.
 * Gives the id of the run that it became. Throws TASK_REFUSED with the router's reason.
 */
export async function publishTask(brokerUrl: string, task: Task): Promise<string> {
  const { host, username, password } = new URL(brokerUrl);
  const broker = await connect({ servers: host, user: username, pass: password, name: 'demo' });
  try {
    const inbox = createInbox();
    const answers = broker.subscribe(inbox, { max: 1, timeout: answerWithinMs });
    const header = headers();
    header.set(names.answerTo, inbox);
    broker.publish(TaskSubmitted.subject, JSON.stringify(task), { headers: header });
    for await (const message of answers) {
      const answer: unknown = message.json();
      if (isAccepted(answer)) return answer.runId;
      throw new FlotillaError(fleetErrors.taskRefused, { reason: message.string() });
    }
    throw new FlotillaError(fleetErrors.taskRefused, { reason: 'nobody answered' });
  } finally {
    await broker.close();
  }
}

function isAccepted(answer: unknown): answer is { readonly runId: string } {
  return typeof answer === 'object' && answer !== null && 'runId' in answer && typeof answer.runId === 'string';
}
