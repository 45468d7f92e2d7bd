import type { WorkspacePort } from '@flotilla/agent/ports';
import type { Slot } from '@flotilla/sandbox/slot';
import type { Workplace } from './workplaces.ts';

/** What the agent's workspace needs of a workplace. */
export interface WorkspaceParts extends Pick<Workplace, 'commandPath'> {
  readonly slot: Pick<Slot, 'files' | 'run'>;
}

/** Names a listing shows before the tool cuts it. */
const listedEntries = 1001;
/** Files that are looked through for those below a directory. */
const globbedFiles = 20_000;

/**
 * The files and commands of a slot as the agent's tools ask for them. Paths come in as policy decided on them, so that a
 * link put there since is refused rather than followed.
 */
export function bindWorkspace({ slot, commandPath }: WorkspaceParts): WorkspacePort {
  const { files, run } = slot;
  return {
    resolve: async (path) => files.resolve(path),
    async read(path, limitBytes) {
      const facts = files.stat(path, { followLinks: false });
      if (facts !== undefined && facts.sizeBytes <= limitBytes) {
        const bytes = await files.readBytes(path, { limitBytes, followLinks: false });
        return { bytes, sizeBytes: bytes.byteLength };
      }
      const { text, sizeBytes } = await files.read(path, { limitBytes, followLinks: false });
      const bytes = Buffer.from(text);
      // The part is never mistaken for the whole, even where replacement characters made it longer.
      return { bytes, sizeBytes: Math.max(sizeBytes, bytes.byteLength + 1) };
    },
    async list(path) {
      const { entries } = await files.list(path, { limit: listedEntries, followLinks: false });
      return entries.map(({ name, kind, sizeBytes }) => ({ name, kind, sizeBytes }));
    },
    async glob(pattern, { path, limit }) {
      // Anchored at the root, because a pattern of the tools is one on the whole path.
      const found = await files.glob(`/${pattern}`, { limit: path === '.' ? limit : globbedFiles });
      const below = path === '.' ? found.paths : found.paths.filter((file) => file.startsWith(`${path}/`));
      return { items: below.slice(0, limit), truncated: found.truncated || below.length > limit };
    },
    async grep({ pattern, regex, ignoreCase, path, glob, limit }) {
      const options = { path, limit, fixed: !regex, ignoreCase, ...(glob === undefined ? {} : { glob }) };
      const { lines, truncated } = await files.grep(pattern, options);
      return { items: lines.map((match) => ({ path: match.path, line: match.line, text: match.text })), truncated };
    },
    async write(path, text) {
      return (await files.write(path, text)).created;
    },
    async delete(path) {
      await files.delete(path);
    },
    async run(command, { timeoutMs, limitBytes, signal, onOutput }) {
      const heard = onOutput === undefined ? {} : { onOutput };
      const result = await run(command, { timeoutMs, limitBytes, signal, path: commandPath, ...heard });
      if (result.killedBy === 'abort') signal.throwIfAborted();
      const { exitCode, output, truncated, timedOut, durationMs, reason } = result;
      return { exitCode, output, truncated, timedOut, durationMs, ...(reason === undefined ? {} : { reason }) };
    },
  };
}
