import { createHash } from 'node:crypto';
import type { Task } from '@flotilla/contracts/messages/task-submitted';

/** Tells whether two tasks ask for the same, their keys left out. */
export function fingerprintTask({ externalKey: _key, ...task }: Task): string {
  const fields = Object.entries(task).filter(([, value]) => value !== undefined);
  const canonical = JSON.stringify(fields.sort(([left], [right]) => (left < right ? -1 : 1)));
  return createHash('sha256').update(canonical).digest('hex');
}
