import type Dockerode from 'dockerode';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { connectToDocker } from '../docker-engine/connect.ts';
import { chooseEngine } from '../docker-engine/choose-engine.ts';
import { gatherEngineFacts } from '../docker-engine.ts';
import { readImageContent } from '../sandbox-image/image-content.ts';
import { hasImage } from '../sandbox-image/registry-base.ts';
import { fail, pass } from './check.ts';
import type { Check, DoctorContext, Finding } from './check.ts';
import { checkWorkspacePath } from './check-workspace-path.ts';
import { runConfined } from './run-confined.ts';

/** The Docker engine, the sandbox image, a confined container, and the workspace's path as the engine sees it. */
export function dockerChecks(context: DoctorContext): readonly Check[] {
  return [
    { id: 'docker.engine', title: 'Docker engine', run: () => checkEngine(context) },
    { id: 'docker.image', title: 'sandbox image', run: () => withEngine(context, checkImage) },
    { id: 'docker.container', title: 'confined container', run: () => withImage(context, checkContainer) },
    {
      id: 'docker.path',
      title: 'workspace path',
      run: () => withImage(context, (docker, image) => checkWorkspacePath(docker, image, context.dataDirectory)),
    },
  ];
}

const startFirst = 'Run "npm start" once; it starts the engine and builds the image where this machine allows it.';

async function checkEngine({ environment }: DoctorContext): Promise<Finding> {
  const connection = await connectToDocker(environment);
  if (connection.kind === 'answers') return pass(`version ${connection.version} answers at ${connection.at}`);
  const choice = chooseEngine(await gatherEngineFacts(environment, connection));
  switch (choice.kind) {
    case 'dockerd':
      return fail('dockerd is installed and does not run', 'Run "npm start", which starts it, or start it yourself.');
    case 'apt':
      return fail('not installed', 'Run "npm start", which installs it with apt, or install it yourself.');
    case 'missing':
      return fail(choice.reason, new FlotillaError(errors.dockerMissing, { reason: choice.reason }).advice);
  }
}

async function withEngine(
  { environment }: DoctorContext,
  check: (docker: Dockerode) => Promise<Finding>,
): Promise<Finding> {
  const connection = await connectToDocker(environment);
  return connection.kind === 'answers'
    ? check(connection.docker)
    : fail('not checked, since no Docker engine answers', startFirst);
}

async function withImage(
  context: DoctorContext,
  check: (docker: Dockerode, image: string) => Promise<Finding>,
): Promise<Finding> {
  return withEngine(context, async (docker) => {
    const { image } = await readImageContent();
    return (await hasImage(docker, image))
      ? check(docker, image)
      : fail('not checked, since the sandbox image is missing', startFirst);
  });
}

async function checkImage(docker: Dockerode): Promise<Finding> {
  const { image } = await readImageContent();
  if (await hasImage(docker, image)) return pass(image);
  return fail(`${image} is missing`, 'Run "npm start", which builds it in under a minute.');
}

async function checkContainer(docker: Dockerode, image: string): Promise<Finding> {
  const script = 'test "$(ls /sys/class/net)" = lo && ! touch /probe 2>/dev/null && node --version';
  const { code, output } = await runConfined(docker, { image, script, mounts: [] });
  if (code === 0) return pass(`starts without network, read-only, with node ${output.trim()}`);
  return fail(
    `a container without network and with a read-only root did not do as it should (exit code ${code}): ${output.trim()}`,
    'Read the log of the Docker engine; its storage driver, cgroups or security profile refuses what a sandbox needs.',
  );
}
