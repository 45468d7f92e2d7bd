import { dependencyDirectories } from '@flotilla/contracts/dependency-directories';
import type { Readable } from 'node:stream';
import type { Slot } from './slot.ts';

const listLimitBytes = 64 * 1024 ** 2;
const timeoutMs = 600_000;

const dependencies = dependencyDirectories.map((name) => `--exclude=${name}/`).join(' ');

/**
 * Lists, sorted and NUL-separated, what the workspace's own ignore files hide from git and what lies in directories that package
 * managers fill, by a git directory that is made for it: the one in the workspace is not believed. Nested repositories are left out.
 */
const listing = `
set -euo pipefail
export LC_ALL=C GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null
made=$(mktemp -d)
git init --quiet --bare "$made/git"
list() { git --git-dir="$made/git" --work-tree=/workspace ls-files -z --others --ignored --exclude-standard ${dependencies}; }
ignored() { cd /workspace && list | { grep -zv '/$' || true; } | sort -z; }
`;

/** The archive is made and taken apart inside of containers: no path in it, and no link, means anything to the host. */
const capturing = `${listing}
cat > "$made/before"
ignored | comm -z -13 "$made/before" - | tar --create --file=- --no-recursion --directory=/workspace --null --files-from=-
`;

export async function listIgnored(slot: Slot): Promise<Uint8Array> {
  const result = await slot.collect({ shell: `${listing}\nignored` }, { limitBytes: listLimitBytes, timeoutMs });
  if (result.exitCode !== 0) throw new Error(`the ignored files cannot be listed: ${result.stderr.slice(-500)}`);
  return result.stdout;
}

/**
 * Hands an archive of the ignored files that were not there before to `onBytes`. Answers false when it is larger than the
 * limit; what was handed over is then of no use.
 */
export async function captureIgnored(
  slot: Slot,
  before: Uint8Array,
  limitBytes: number,
  onBytes: (bytes: Uint8Array) => void,
): Promise<boolean> {
  const result = await slot.collect({ shell: capturing }, { stdin: before, onStdout: onBytes, limitBytes, timeoutMs });
  if (result.killedBy === 'output') return false;
  if (result.exitCode !== 0) throw new Error(`the ignored files cannot be captured: ${result.stderr.slice(-500)}`);
  return true;
}

/** Takes an archive apart in the workspace, as the sandbox user. Answers with a sentence when that failed. */
export async function layFiles(slot: Slot, archive: Readable): Promise<string | undefined> {
  const argv = ['tar', '--extract', '--skip-old-files', '--preserve-permissions', '--directory=/workspace', '--file=-'];
  const { exitCode, killedBy, stderr } = await slot.collect({ argv }, { stdin: archive, timeoutMs });
  if (exitCode === 0) return undefined;
  return killedBy === undefined ? stderr.trim().slice(-500) || `tar ended with ${exitCode}` : `stopped by ${killedBy}`;
}
