import type Dockerode from 'dockerode';
import { settings } from '@flotilla/contracts/settings';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { connectToDocker } from '../docker-engine/connect.ts';
import { chooseEngine } from '../docker-engine/choose-engine.ts';
import { enginePackages, gatherEngineFacts } from '../docker-engine.ts';
import { readImageContent } from '../sandbox-image/image-content.ts';
import { hasImage } from '../sandbox-image/registry-base.ts';
import { fail, note, pass } from './check.ts';
import type { Check, DoctorContext, Finding } from './check.ts';
import { checkWorkspacePath } from './check-workspace-path.ts';
import { runConfined } from './run-confined.ts';

const imageVariable = settings.sandboxImage.variable;

/** The Docker engine, the sandbox image, a confined container, and the workspace's path as the engine sees it. */
export function dockerChecks(context: DoctorContext): readonly Check[] {
  return [
    { id: 'docker.engine', title: 'Docker engine', run: () => checkEngine(context) },
    {
      id: 'docker.image',
      title: 'sandbox image',
      run: () => withEngine(context, (docker) => checkImage(docker, context)),
    },
    { id: 'docker.container', title: 'confined container', run: () => withImage(context, checkContainer) },
    {
      id: 'docker.path',
      title: 'workspace path',
      run: () => withImage(context, (docker, image) => checkWorkspacePath(docker, image, context.dataDirectory)),
    },
  ];
}

async function checkEngine({ environment }: DoctorContext): Promise<Finding> {
  const connection = await connectToDocker(environment);
  if (connection.kind === 'answers') return pass(`version ${connection.version} answers at ${connection.at}`);
  const choice = chooseEngine(await gatherEngineFacts(environment, connection));
  switch (choice.kind) {
    case 'dockerd':
      return note('dockerd is installed and does not run', 'It will be started by "npm start", as root, and stays.');
    case 'apt':
      return note(
        'not installed',
        `${enginePackages.join(' and ')} will be installed with apt by "npm start", as root, and stay.`,
      );
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
    : note('not checked, since no Docker engine answers', 'Ask again when one does.');
}

async function withImage(
  context: DoctorContext,
  check: (docker: Dockerode, image: string) => Promise<Finding>,
): Promise<Finding> {
  return withEngine(context, async (docker) => {
    const image = await expectedImage(context);
    return (await hasImage(docker, image))
      ? check(docker, image)
      : note(`not checked, since the sandbox image ${image} is missing`, 'Ask again when it is there.');
  });
}

/** The operator's own, or else the one that is built here. */
async function expectedImage({ environment }: DoctorContext): Promise<string> {
  return environment[imageVariable] || (await readImageContent()).image;
}

async function checkImage(docker: Dockerode, context: DoctorContext): Promise<Finding> {
  const image = await expectedImage(context);
  if (await hasImage(docker, image)) return pass(image);
  if (context.environment[imageVariable])
    return fail(
      `${image}, which ${imageVariable} names, is not on this engine`,
      `Build or load it on this engine, or unset ${imageVariable} to have one built.`,
    );
  return note(`${image} is missing`, 'It will be built by "npm start", in a minute or two.');
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
