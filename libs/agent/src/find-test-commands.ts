import { detectTests, wantedFiles, type DetectedTests } from './detect-tests.ts';
import type { WorkspacePort } from './ports.ts';
import { toToolFailure } from './tool-failure.ts';
import { decodeText } from './tools/fs-read.ts';

const limitBytes = 512 * 1024;
const limitFiles = 2000;

/** The commands that check the project: as it declares them, else the one its files tell of, else none. */
export async function findTestCommands(
  checks: readonly string[],
  workspace: WorkspacePort,
): Promise<readonly DetectedTests[]> {
  if (checks.length > 0) return checks.map((command) => ({ command, framework: 'declared by the project' }));
  const texts: Record<string, string> = {};
  for (const file of wantedFiles) {
    const text = await readIfThere(workspace, file);
    if (text !== undefined) texts[file] = text;
  }
  const patterns = ['*', '*/*', '*/*/*'];
  const found = await Promise.all(patterns.map((pattern) => workspace.glob(pattern, { path: '.', limit: limitFiles })));
  const detected = detectTests({ files: found.flatMap(({ items }) => items), texts });
  return detected === undefined ? [] : [detected];
}

async function readIfThere(workspace: WorkspacePort, file: string): Promise<string | undefined> {
  try {
    return decodeText((await workspace.read(file, limitBytes)).bytes);
  } catch (error) {
    if (toToolFailure(error) !== undefined) return undefined;
    throw error;
  }
}
