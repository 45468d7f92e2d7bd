import { detectTests, wantedFiles } from '@flotilla/agent/detect-tests';
import type { CommitId } from '@flotilla/contracts/ids';
import type { Mirror } from '@flotilla/git/mirror';
import { readFileAt, type TreeEntry } from '@flotilla/git/read-tree';

const limitBytes = 512 * 1024;
const deepest = 3;

/** Whether a tree tells its test command, as the checks will look for it: in files at the root and up to two levels below. */
export async function tellsTests(mirror: Mirror, commit: CommitId, tree: readonly TreeEntry[]): Promise<boolean> {
  const paths = tree.map(({ path }) => path).filter((path) => path.split('/').length <= deepest);
  const texts: Record<string, string> = {};
  for (const { path, sizeBytes } of tree) {
    if (!wantedFiles.some((wanted) => wanted === path) || (sizeBytes ?? limitBytes) >= limitBytes) continue;
    const bytes = await readFileAt(mirror, { commit, path, limitBytes });
    if (bytes !== undefined) texts[path] = bytes.toString('utf8');
  }
  return detectTests({ files: paths, texts }) !== undefined;
}
