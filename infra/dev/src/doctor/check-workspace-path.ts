import type Dockerode from 'dockerode';
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fail, pass } from './check.ts';
import type { Finding } from './check.ts';
import { runConfined } from './run-confined.ts';

/** Whether a directory of ours is the same directory for the Docker engine: a file goes in and another comes back. */
export async function checkWorkspacePath(docker: Dockerode, image: string, dataDirectory: string): Promise<Finding> {
  await mkdir(dataDirectory, { recursive: true, mode: 0o700 });
  const directory = await mkdtemp(join(dataDirectory, 'doctor-'));
  try {
    // The sandbox user is not us when we are root.
    await chmod(directory, 0o777);
    const secret = randomBytes(16).toString('hex');
    await writeFile(join(directory, 'sent'), secret, { mode: 0o644 });
    const script = 'cat /workspace/sent && sed s/^/returned-/ < /workspace/sent > /workspace/returned';
    const { code, output } = await runConfined(docker, {
      image,
      script,
      mounts: [{ source: directory, target: '/workspace' }],
    });
    if (output.trim() !== secret)
      return mismatch(directory, `a container finds something else there (${output.trim() || `exit code ${code}`})`);
    const returned = await readFile(join(directory, 'returned'), 'utf8').catch(() => '');
    if (returned.trim() !== `returned-${secret}`)
      return mismatch(directory, 'what a container writes there does not come back');
    return pass(`${dataDirectory} is the same for the Docker engine`);
  } catch (error) {
    return mismatch(directory, error instanceof Error ? error.message : String(error));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function mismatch(directory: string, reason: string): Finding {
  return fail(
    `the Docker engine does not see ${directory} as it is here: ${reason}`,
    'Run the fleet on the machine of the Docker engine; if it runs in a container, mount its data directory there under the same path as on that machine.',
  );
}
