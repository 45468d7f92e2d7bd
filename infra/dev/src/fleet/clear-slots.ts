import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { connectDocker } from '@flotilla/sandbox/docker-engine';
import { reapEnded } from '@flotilla/sandbox/reap-slots';
import { connectToDocker } from '../docker-engine/connect.ts';
import type { SlotsOwnership } from './take-over-slots.ts';

/**
 * Removes the sandboxes that services of this fleet left, which must have ended: one that was killed cleared up nothing. What others
 * use stays (reapEnded). Never throws: what is left is told of, and removed by the next start.
 */
export async function clearSlots({ dataDirectory, installation, dockerHost, report }: SlotsOwnership): Promise<void> {
  const directory = join(dataDirectory, 'slots');
  const made = await stat(directory).then(
    () => true,
    () => false,
  );
  if (!made) return;
  try {
    const connection = await connectToDocker({ DOCKER_HOST: dockerHost });
    if (connection.kind === 'silent') throw new Error(connection.reason);
    const removed = await reapEnded({ engine: connectDocker(dockerHost), directory, installation });
    if (removed.size > 0) report.say('slots', `${removed.size} left by services that were killed, removed`);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    report.warn('slots', `what killed services left is still there, until the fleet starts again: ${reason}`);
  }
}
