import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import type { Command } from './command.ts';
import { commandArgv, commandEnvironment, wrapCommand } from './command.ts';
import { checkAfterwards } from './check-afterwards.ts';
import { createContainedFiles } from './contained-files.ts';
import { workspacePath } from './container-options.ts';
import { DirectoryHandle } from './directory-handle.ts';
import type { DockerEngine } from './docker-engine.ts';
import { killTree, survivors } from './kill-tree.ts';
import type { Launcher } from './launcher.ts';
import type { OutputFrame } from './output-frames.ts';
import { OutputRecorder } from './output-recorder.ts';
import { exitCodeOfKilled, runCommand } from './run-command.ts';
import type { SandboxUser } from './sandbox-user.ts';
import type { SlotClaim } from './slot-labels.ts';
import type { SlotLimits } from './slot-limits.ts';
import { requireSlotRecord } from './slot-record.ts';
import { createTurns } from './take-turns.ts';
import { createDiskWatch } from './watch-disk.ts';
import { createWorkspaceSearch } from './search-workspace.ts';
import type { CollectOptions, CollectResult, RunOptions, RunResult, Slot } from './slot.ts';

export interface SlotParts {
  readonly engine: DockerEngine;
  readonly container: string;
  readonly id: string;
  readonly image: string;
  readonly claim: SlotClaim;
  readonly slotDirectory: string;
  readonly workspaceDirectory: string;
  readonly user: SandboxUser;
  readonly launcher: Launcher;
  readonly limits: SlotLimits;
  /** Set for every command, such as where the door is. */
  readonly environment: Readonly<Record<string, string>>;
  readonly warm: boolean;
  readonly claimMs: number;
  readonly now: () => number;
  /** Tells whether the container ran out of memory since the given moment. */
  readonly ranOutOfMemory: (since: number, exitCode: number) => Promise<boolean>;
  /** Removes everything that belongs to the slot. */
  readonly remove: () => Promise<void>;
}

const defaultTimeoutMs = 120_000;
const defaultLimitBytes = 4 * 1024 ** 2;
const defaultFloodBytes = 64 * 1024 ** 2;
const stderrBytes = 64 * 1024;

export function createSlot(parts: SlotParts): Slot {
  const { engine, container, user, limits, now, launcher } = parts;
  const root = DirectoryHandle.openTrusted(parts.workspaceDirectory);
  const files = checkAfterwards(createContainedFiles(root, user), refuseWhenLost);
  const inTurn = createTurns();
  const closing = new AbortController();
  const diskLimits = { bytes: limits.workspaceBytes, entries: limits.workspaceEntries };
  const disk = createDiskWatch({ root, limits: diskLimits, now });
  const account = `${user.uid}:${user.gid}`;
  let removal: Promise<void> | undefined;

  const slot: Slot = {
    id: parts.id,
    image: parts.image,
    claim: parts.claim,
    directory: parts.workspaceDirectory,
    user,
    files: { ...files, ...createWorkspaceSearch(files, (command, options) => collect(command, options)) },
    warm: parts.warm,
    claimMs: parts.claimMs,
    run,
    collect,
    whileQuiet: (action) =>
      inTurn(async () => {
        refuseWhenClosed();
        await endSurvivors();
        try {
          return await action();
        } finally {
          refuseWhenLost();
        }
      }),
    refuseWhenLost,
    destroy: () =>
      (removal ??= destroy().catch((error: unknown) => {
        removal = undefined;
        throw error;
      })),
    [Symbol.asyncDispose]: () => slot.destroy(),
  };
  return slot;

  async function run(command: Command, options: RunOptions = {}): Promise<RunResult> {
    const limitBytes = options.limitBytes ?? defaultLimitBytes;
    const floodBytes = Math.max(limitBytes, options.floodBytes ?? defaultFloodBytes);
    const recorder = new OutputRecorder(limitBytes);
    const decoders = { stdout: createDecoder(), stderr: createDecoder() };
    const take = (text: string) => {
      if (text === '') return;
      recorder.append(text);
      options.onOutput?.(text);
    };
    const end = await execute(command, options, {
      merged: true,
      onFrame({ stream, bytes }) {
        take(decoders[stream].decode(bytes, { stream: true }));
        return recorder.totalBytes <= floodBytes;
      },
    });
    take(decoders.stdout.decode());
    take(decoders.stderr.decode());
    return {
      exitCode: end.exitCode,
      output: recorder.text(),
      truncated: recorder.truncated,
      timedOut: end.killedBy === 'timeout',
      killedBy: end.killedBy,
      reason: end.reason,
      durationMs: end.durationMs,
    };
  }

  async function collect(command: Command, options: CollectOptions = {}): Promise<CollectResult> {
    const limitBytes = options.limitBytes ?? defaultLimitBytes;
    const stdout: Uint8Array[] = [];
    const stderr = new OutputRecorder(stderrBytes);
    const decoder = createDecoder();
    const keep = options.onStdout ?? ((bytes: Uint8Array) => void stdout.push(bytes));
    let printed = 0;
    const onFrame = ({ stream, bytes }: OutputFrame) => {
      if (stream === 'stderr') {
        stderr.append(decoder.decode(bytes, { stream: true }));
        return stderr.totalBytes <= defaultFloodBytes;
      }
      const wanted = bytes.subarray(0, Math.max(0, limitBytes - printed));
      printed += bytes.length;
      if (wanted.length > 0) keep(wanted);
      return printed <= limitBytes;
    };
    const end = await execute(command, options, { merged: false, onFrame });
    stderr.append(decoder.decode());
    const { exitCode, killedBy, durationMs } = end;
    return { exitCode, stdout: Buffer.concat(stdout), stderr: stderr.text(), killedBy, durationMs };
  }

  function execute(
    command: Command,
    options: RunOptions,
    { merged, onFrame }: { readonly merged: boolean; readonly onFrame: (frame: OutputFrame) => boolean },
  ) {
    const argv = commandArgv(command);
    const environment = commandEnvironment({ ...parts.environment, ...options.environment }, options.path ?? []);
    return inTurn(async () => {
      refuseWhenClosed();
      const started = now();
      const request = {
        argv: wrapCommand(argv, workingDirectory(options.cwd), merged),
        user: account,
        directory: '/',
        environment,
        stdin: options.stdin,
        timeoutMs: options.timeoutMs ?? defaultTimeoutMs,
        signal: options.signal ? AbortSignal.any([options.signal, closing.signal]) : closing.signal,
        onFrame,
        watch: disk.during,
      };
      await disk.before();
      const end = await runCommand(
        engine,
        container,
        request,
        async () => void (await killTree(engine, container, account)),
        launcher,
      ).finally(async () => {
        if (closing.signal.aborted) return;
        await endSurvivors();
        launcher.prepare();
      });
      const durationMs = now() - started;
      if (end.killedBy === undefined && end.exitCode !== 0 && (await parts.ranOutOfMemory(started, end.exitCode))) {
        const reason = `the slot has ${limits.memoryBytes} bytes of memory, /tmp and home included`;
        return { ...end, killedBy: 'memory' as const, reason, durationMs };
      }
      const reason = end.killedBy === undefined ? await findExcess() : undefined;
      if (reason !== undefined) return { exitCode: exitCodeOfKilled, killedBy: 'disk' as const, reason, durationMs };
      return { ...end, durationMs };
    });
  }

  function workingDirectory(cwd = '.'): string {
    const facts = files.stat(cwd);
    if (facts === undefined) throw new FlotillaError(errors.fileMissing, { path: cwd });
    if (facts.kind !== 'directory') {
      throw new FlotillaError(errors.fileKindWrong, { path: facts.path, kind: 'a file', expected: 'a directory' });
    }
    return facts.path === '.' ? workspacePath : `${workspacePath}/${facts.path}`;
  }

  /** A command may fill the disk and end before anybody looked. */
  async function findExcess(): Promise<string | undefined> {
    return closing.signal.aborted ? undefined : disk.after();
  }

  async function endSurvivors(): Promise<void> {
    if ((await survivors(engine, container, await launcher.waiting())).length === 0) return;
    launcher.forget();
    await killTree(engine, container, account);
  }

  function refuseWhenClosed(): void {
    if (closing.signal.aborted)
      throw new FlotillaError(errors.slotLost, { slot: parts.id, reason: 'it was destroyed' });
  }

  function refuseWhenLost(): void {
    refuseWhenClosed();
    requireSlotRecord(parts.slotDirectory);
  }

  async function destroy(): Promise<void> {
    closing.abort();
    root[Symbol.dispose]();
    await parts.remove();
  }
}

function createDecoder() {
  return new TextDecoder('utf-8', { ignoreBOM: true });
}
