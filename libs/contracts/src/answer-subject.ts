import { inboxPrefixOf, LOCAL_USER, whyNoPublisher } from './principals.ts';
import { intakeSubject } from './streams.ts';

const inboxTokens = /^(\.[a-zA-Z0-9_-]+)+$/;

/**
 * Whether the answer to a task that was published on `published` may go to `answerTo`: it lies under the inbox of whoever published
 * it and of nobody else, and names no wildcard. A task on the plain subject is of the local user.
 */
export function mayAnswerTo(answerTo: string, published: string): boolean {
  const publisher = published === intakeSubject() ? LOCAL_USER : publisherOf(published);
  if (publisher === undefined) return false;
  const prefix = inboxPrefixOf(publisher);
  return answerTo.startsWith(prefix) && inboxTokens.test(answerTo.slice(prefix.length));
}

function publisherOf(subject: string): string | undefined {
  const prefix = intakeSubject('');
  if (!subject.startsWith(prefix)) return undefined;
  const name = subject.slice(prefix.length);
  return name === LOCAL_USER || whyNoPublisher(name) === undefined ? name : undefined;
}
