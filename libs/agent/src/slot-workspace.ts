import type { CommandLine, DirectoryEntry, WorkspacePort } from './ports.ts';

/** A slot as this loop needs it; libs/sandbox's Slot fits. */
export interface SlotShape {
  readonly files: SlotFiles;
  run(command: CommandLine, options: SlotRunOptions): Promise<SlotRunResult>;
}

interface NotThroughLinks {
  readonly followLinks: false;
}

interface SlotFiles {
  resolve(path: string): string;
  stat(path: string, options: NotThroughLinks): { readonly sizeBytes: number } | undefined;
  read(path: string, options: NotThroughLinks & { readonly limitBytes: number }): Promise<{ readonly text: string }>;
  readBytes(path: string, options: NotThroughLinks & { readonly limitBytes: number }): Promise<Uint8Array>;
  write(path: string, content: string): Promise<{ readonly created: boolean }>;
  delete(path: string): Promise<unknown>;
  list(path: string, options: NotThroughLinks): Promise<{ readonly entries: readonly DirectoryEntry[] }>;
  glob(
    pattern: string,
    options: { readonly path: string; readonly limit: number },
  ): Promise<{ readonly paths: readonly string[]; readonly truncated: boolean }>;
  grep(
    pattern: string,
    options: {
      readonly path: string;
      readonly limit: number;
      readonly glob?: string;
      readonly fixed: boolean;
      readonly ignoreCase: boolean;
    },
  ): Promise<{
    readonly lines: readonly { readonly path: string; readonly line: number; readonly text: string }[];
    readonly truncated: boolean;
  }>;
}

/** What every command of a step gets beside its own options. */
export interface CommandSurroundings {
  readonly environment?: Readonly<Record<string, string>>;
  /** Directories of the workspace, looked in before the system's. */
  readonly path?: readonly string[];
}

interface SlotRunOptions extends CommandSurroundings {
  readonly timeoutMs: number;
  readonly limitBytes: number;
  readonly signal: AbortSignal;
  readonly onOutput?: (text: string) => void;
}

interface SlotRunResult {
  readonly exitCode: number;
  readonly output: string;
  readonly truncated: boolean;
  readonly timedOut: boolean;
  readonly reason: string | undefined;
  readonly durationMs: number;
}

/**
 * A slot as a workspace. Paths are opened as policy saw them: canonical, so that a link put in their way meanwhile is
 * refused and not followed.
 */
export function openSlotWorkspace(slot: SlotShape, surroundings: CommandSurroundings = {}): WorkspacePort {
  const { files } = slot;
  return {
    resolve: async (path) => files.resolve(path),
    async read(path, limitBytes) {
      const sizeBytes = files.stat(path, { followLinks: false })?.sizeBytes ?? 0;
      const options = { followLinks: false, limitBytes } as const;
      if (sizeBytes <= limitBytes) {
        const bytes = await files.readBytes(path, options);
        return { bytes, sizeBytes: bytes.byteLength };
      }
      const bytes = new TextEncoder().encode((await files.read(path, options)).text);
      // The part is never mistaken for the whole, even where replacement characters made it longer.
      return { bytes, sizeBytes: Math.max(sizeBytes, bytes.byteLength + 1) };
    },
    list: async (path) => (await files.list(path, { followLinks: false })).entries,
    async glob(pattern, options) {
      const { paths, truncated } = await files.glob(pattern, options);
      return { items: paths, truncated };
    },
    async grep({ pattern, regex, ignoreCase, path, glob, limit }) {
      const { lines, truncated } = await files.grep(pattern, {
        path,
        limit,
        fixed: !regex,
        ignoreCase,
        ...(glob === undefined ? {} : { glob }),
      });
      return { items: lines, truncated };
    },
    write: async (path, text) => (await files.write(path, text)).created,
    async delete(path) {
      await files.delete(path);
    },
    async run(command, options) {
      const { reason, ...result } = await slot.run(command, { ...surroundings, ...options });
      options.signal.throwIfAborted();
      return { ...result, ...(reason === undefined ? {} : { reason }) };
    },
  };
}
