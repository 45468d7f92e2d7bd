import type Dockerode from 'dockerode';
import { withMachineLock } from './machine/machine-lock.ts';
import { reportWhile } from './report.ts';
import type { Activity, Report } from './report.ts';
import { buildImage } from './sandbox-image/build-image.ts';
import { buildDebianBase } from './sandbox-image/debian-base.ts';
import { readImageContent } from './sandbox-image/image-content.ts';
import type { ImageContent } from './sandbox-image/image-content.ts';
import { hasImage, pullImage } from './sandbox-image/registry-base.ts';

export interface SandboxImageOptions {
  readonly docker: Dockerode;
  readonly report: Report;
  readonly signal?: AbortSignal | undefined;
}

export interface SandboxImage {
  /** `flotilla/sandbox:<hash>`; the same content has the same name on every machine. */
  readonly image: string;
  readonly how: 'cached' | 'registry' | 'debian';
}

/** The public image that infra/docker/sandbox/Dockerfile builds on when it is told nothing else. */
const publicBase = 'debian:12-slim';

/**
 * Makes sure that the Docker engine has the sandbox image: built before, or now with the Dockerfile, on a public base where a
 * registry answers within five seconds and on one made of this machine's own Debian packages where none does. One build
 * of a machine at a time. Throws SANDBOX_IMAGE_UNAVAILABLE.
 */
export async function ensureSandboxImage({ docker, report, signal }: SandboxImageOptions): Promise<SandboxImage> {
  const content = await readImageContent();
  if (await hasImage(docker, content.image)) return { image: content.image, how: 'cached' };
  return withMachineLock({ name: 'sandbox-image', purpose: 'building the sandbox image', report, signal }, async () => {
    if (await hasImage(docker, content.image)) return { image: content.image, how: 'cached' };
    return reportWhile(
      report,
      'sandbox image',
      'looking for an image registry',
      async (activity) => ({ image: content.image, how: await build(content, activity, { docker, report, signal }) }),
      ({ image, how }) =>
        `${image}, built ${how === 'registry' ? `on ${publicBase} from a registry` : "from this machine's Debian packages"}`,
      signal,
    );
  });
}

async function build(
  content: ImageContent,
  activity: Activity,
  { docker, report, signal }: SandboxImageOptions,
): Promise<'registry' | 'debian'> {
  const shared = { docker, content, activity, signal };
  const pulled = await pullImage({ docker, image: publicBase, activity, signal });
  if (pulled.kind === 'here') {
    try {
      await buildImage({ ...shared, base: publicBase, network: 'default' });
      return 'registry';
    } catch (error) {
      signal?.throwIfAborted();
      report.say(
        'sandbox image',
        `could not be built on ${publicBase}: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  } else {
    report.say(
      'sandbox image',
      `no base from a registry (${pulled.reason}); it is made from this machine's Debian packages`,
    );
  }
  if (!(await hasImage(docker, content.baseImage))) await buildDebianBase({ ...shared, report });
  await buildImage({ ...shared, base: content.baseImage, network: 'none' });
  return 'debian';
}
