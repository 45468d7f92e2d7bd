import type { CommitId } from '@flotilla/contracts/ids';
import type { Mirror } from '@flotilla/git/mirror';
import { listTree, readFileAt } from '@flotilla/git/read-tree';
import type { StepContext } from '@flotilla/host/step-work';
import { detectSetup, type SetupPlan } from '@flotilla/sandbox/detect-setup';
import type { StepOccasion } from '@flotilla/workplace/workplaces';

/** Which package managers the sandbox image has. */
export interface ImageTools {
  list(step: StepOccasion, context: Pick<StepContext, 'signal'>): Promise<ReadonlySet<string>>;
}

/** Those that a setup may be detected for. */
export const packageManagers = ['npm', 'pnpm', 'yarn', 'python3'];

const manifestLimitBytes = 16 * 1024 * 1024;

/** Looks at the files of a commit; the image is asked only where there is something to install. */
export async function detectProjectSetup(
  mirror: Mirror,
  commit: CommitId,
  listTools: () => Promise<ReadonlySet<string>>,
): Promise<SetupPlan> {
  const entries = await listTree(mirror, commit);
  const files = entries.filter(({ kind }) => kind === 'file' || kind === 'executable').map(({ path }) => path);
  const readFile = async (path: string) => {
    const bytes = await readFileAt(mirror, { commit, path, limitBytes: manifestLimitBytes });
    return bytes?.toString('utf8') ?? '';
  };
  const detect = (tools: ReadonlySet<string>) => detectSetup({ files, readFile, tools });
  const plan = await detect(new Set(packageManagers));
  return plan.kind === 'commands' ? detect(await listTools()) : plan;
}
