import { eventsSubject, liveSubject } from '@flotilla/contracts/streams';
import type { Broker } from './connect-broker.ts';

/** Tells whoever looks on what a step says just now. Nothing keeps it; a lost connection loses it. */
export function publishLive(broker: Broker, runId: string, text: string): void {
  if (!broker.nc.isClosed()) broker.nc.publish(liveSubject(runId), text);
}

/** Listens to what a run's steps say. Returns how to stop. What a listener throws ends the connection, so it must not. */
export function subscribeLive(broker: Broker, runId: string, listener: (text: string) => void): () => void {
  return subscribe(broker, liveSubject(runId), (_, text) => listener(text));
}

/** Calls `listener` when the log of a run grew, or of any run for `*`. It may miss some: read the log now and then. */
export function subscribeEvents(broker: Broker, runId: string, listener: (runId: string) => void): () => void {
  return subscribe(broker, eventsSubject(runId), (subject) => listener(subject.split('.').at(-1) ?? ''));
}

function subscribe(broker: Broker, subject: string, listener: (subject: string, text: string) => void): () => void {
  const subscription = broker.nc.subscribe(subject, {
    callback: (error, message) => {
      if (error === null) listener(message.subject, message.string());
    },
  });
  return () => subscription.unsubscribe();
}
