import type { Readable } from 'node:stream';
import type { Command } from './command.ts';
import type { ContainedFiles } from './contained-files.ts';
import type { KilledBy } from './run-command.ts';
import type { SandboxUser } from './sandbox-user.ts';
import type { WorkspaceSearch } from './search-workspace.ts';
import type { SlotClaim } from './slot-labels.ts';

export interface RunOptions {
  /** Default: 120 000. */
  readonly timeoutMs?: number;
  /** A directory of the workspace. Default: the workspace. */
  readonly cwd?: string;
  /** All that a command gets beside the fixed part; nothing of the host's environment reaches it. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Directories of the workspace, looked in before the system's. */
  readonly path?: readonly string[];
  readonly stdin?: string | Uint8Array | Readable;
  readonly signal?: AbortSignal;
  /** How much output is kept, beginning and end. Default: 4 MiB. */
  readonly limitBytes?: number;
  /** A command that prints more than this is stopped. Default: 64 MiB, at least `limitBytes`. */
  readonly floodBytes?: number;
  /** Whole characters, in the order they were printed; what is left out of the result is shown here too. */
  readonly onOutput?: (text: string) => void;
}

export interface RunResult {
  /** The engine's word; 137 for a command that was killed. Anything but 0 is the command's answer, not a failure of ours. */
  readonly exitCode: number;
  /** stdout and stderr as they came. Data: whatever it claims, the fields beside it hold. */
  readonly output: string;
  readonly truncated: boolean;
  readonly timedOut: boolean;
  readonly killedBy: KilledBy | undefined;
  /** A sentence for people about `killedBy`. */
  readonly reason: string | undefined;
  readonly durationMs: number;
}

export interface CollectOptions extends Omit<RunOptions, 'onOutput' | 'floodBytes'> {
  /** Takes stdout instead of the result, at once: what it does not keep is gone. */
  readonly onStdout?: (bytes: Uint8Array) => void;
}

export interface CollectResult {
  readonly exitCode: number;
  /** At most `limitBytes`; a command that prints more is stopped. */
  readonly stdout: Uint8Array;
  /** The last 64 kB. */
  readonly stderr: string;
  readonly killedBy: KilledBy | undefined;
  readonly durationMs: number;
}

/**
 * A fresh container and its own empty workspace, for one attempt. Commands run one after another; after each, no process of
 * the sandbox user is alive. Throws SLOT_LOST, DOCKER_UNAVAILABLE, COMMAND_REFUSED.
 */
export interface Slot extends AsyncDisposable {
  readonly id: string;
  readonly image: string;
  readonly claim: SlotClaim;
  /** The workspace on this host: filled in place, never replaced, opened by handle only (see `files`). */
  readonly directory: string;
  readonly user: SandboxUser;
  readonly files: ContainedFiles & WorkspaceSearch;
  /** Whether the container was already running when it was claimed, and what the claim took. */
  readonly warm: boolean;
  readonly claimMs: number;
  run(command: Command, options?: RunOptions): Promise<RunResult>;
  /** As run, with stdout as bytes, for programs that speak to programs. */
  collect(command: Command, options?: CollectOptions): Promise<CollectResult>;
  /**
   * Runs `action` while no process of the sandbox is alive and none starts: the workspace is the action's alone. What it made of one
   * that somebody removed meanwhile is lost.
   */
  whileQuiet<T>(action: () => Promise<T>): Promise<T>;
  /**
   * Throws SLOT_LOST once somebody removed the slot, as a reaper does with that of a process that stood still for too long. To be asked
   * after the workspace was used by its path; everything else here asks by itself.
   */
  refuseWhenLost(): void;
  /** Stops what runs, removes container and directory. Safe to repeat. */
  destroy(): Promise<void>;
}
