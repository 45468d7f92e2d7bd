/** What one slot may use. */
export interface SlotLimits {
  readonly memoryBytes: number;
  readonly processes: number;
  readonly cpus: number;
  readonly openFiles: number;
  /** The largest single file. */
  readonly fileBytes: number;
  /** /tmp; counts as memory. */
  readonly temporaryBytes: number;
  /** The home directory; counts as memory. */
  readonly homeBytes: number;
  readonly workspaceBytes: number;
  readonly workspaceEntries: number;
}

const gibibyte = 1024 ** 3;

export const defaultSlotLimits: SlotLimits = {
  memoryBytes: 4 * gibibyte,
  processes: 512,
  cpus: 2,
  openFiles: 16_384,
  fileBytes: gibibyte,
  temporaryBytes: gibibyte / 2,
  homeBytes: gibibyte / 4,
  workspaceBytes: 2 * gibibyte,
  workspaceEntries: 500_000,
};
