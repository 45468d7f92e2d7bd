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
    const { removed, held } = await reapEnded({ engine: connectDocker(dockerHost), directory, installation });
    const gone = removed.size - held;
    if (gone > 0) report.say('slots', `${gone} left by services that were killed, removed`);
    if (held > 0) report.warn('slots', `the Docker engine does not let go of ${held} that it was told to remove`);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    report.warn('slots', `what killed services left is still there, until the fleet starts again: ${reason}`);
  }
}
