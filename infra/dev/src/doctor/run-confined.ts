import type Dockerode from 'dockerode';
import { PassThrough } from 'node:stream';

export interface ConfinedRun {
  readonly image: string;
  /** For sh. */
  readonly script: string;
  readonly mounts: readonly { readonly source: string; readonly target: string }[];
}

/** Runs a script in a container confined as a sandbox is: no network, read-only root, no capability. The container is removed. */
export async function runConfined(
  docker: Dockerode,
  { image, script, mounts }: ConfinedRun,
): Promise<{ readonly code: number; readonly output: string }> {
  const container = await docker.createContainer({
    Image: image,
    Cmd: ['sh', '-c', script],
    Labels: { 'flotilla.doctor': 'true' },
    HostConfig: {
      Init: true,
      NetworkMode: 'none',
      ReadonlyRootfs: true,
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges'],
      // Unlike a bind, a mount is refused when the engine does not have its source.
      Mounts: mounts.map(({ source, target }) => ({ Type: 'bind', Source: source, Target: target })),
    },
  });
  try {
    const output = collect(container, await container.attach({ stream: true, stdout: true, stderr: true }));
    await container.start();
    // The engine's answer to a wait: an object with the exit code.
    const { StatusCode } = (await container.wait()) as { readonly StatusCode: number };
    return { code: StatusCode, output: await output };
  } finally {
    await container.remove({ force: true, v: true }).catch(() => undefined);
  }
}

async function collect(container: Dockerode.Container, stream: NodeJS.ReadWriteStream): Promise<string> {
  const output = new PassThrough();
  container.modem.demuxStream(stream, output, output);
  stream.on('end', () => output.end());
  let text = '';
  for await (const chunk of output) text += String(chunk);
  return text;
}
