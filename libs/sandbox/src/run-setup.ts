import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { workspacePath } from './container-options.ts';
import { listIgnored } from './setup-files.ts';
import type { RunResult, Slot } from './slot.ts';

export interface SetupRun {
  /** Run one after another by a shell at the root of the workspace; the first that fails ends the setup. */
  readonly commands: readonly string[];
  /** See registryEnvironment. */
  readonly environment?: Readonly<Record<string, string>>;
  /** All certificates that tools in the setup may trust, in PEM, when those of the image are not enough. */
  readonly certificates?: string;
  /** For each command. Default: 900 000. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  readonly onOutput?: (text: string) => void;
}

/** Caches and temporary files of the setup: on disk rather than in memory, and gone with the slot. */
const scratch = '.flotilla-setup';
const scratchPath = `${workspacePath}/${scratch}`;
const certificatesFile = `${scratch}/certificates.pem`;
const defaultTimeoutMs = 900_000;
const shownOutput = 4000;

/** Runs the commands. Answers with the ignored files that were there before, see captureIgnored. Throws SETUP_FAILED. */
export async function runSetup(slot: Slot, run: SetupRun): Promise<Uint8Array> {
  await slot.files.write(`${scratch}/tmp/keep`, '');
  if (run.certificates !== undefined) await slot.files.write(certificatesFile, run.certificates);
  const before = await listIgnored(slot);
  for (const command of run.commands) {
    const result = await slot.run(
      { shell: command },
      {
        environment: { ...scratchEnvironment, ...certificateEnvironment(run.certificates), ...run.environment },
        timeoutMs: run.timeoutMs ?? defaultTimeoutMs,
        ...(run.signal && { signal: run.signal }),
        ...(run.onOutput && { onOutput: run.onOutput }),
      },
    );
    run.signal?.throwIfAborted();
    if (result.exitCode !== 0) throw failed(command, result);
  }
  return before;
}

const scratchEnvironment: Readonly<Record<string, string>> = {
  CI: '1',
  TMPDIR: `${scratchPath}/tmp`,
  XDG_CACHE_HOME: `${scratchPath}/cache`,
  npm_config_cache: `${scratchPath}/npm`,
  npm_config_update_notifier: 'false',
  // Of pnpm's store: the setting that names it alone is one that npm warns of.
  XDG_DATA_HOME: `${scratchPath}/data`,
  YARN_CACHE_FOLDER: `${scratchPath}/yarn`,
  PIP_CACHE_DIR: `${scratchPath}/pip`,
  PIP_RETRIES: '2',
};

function certificateEnvironment(certificates: string | undefined): Readonly<Record<string, string>> {
  if (certificates === undefined) return {};
  const file = `${workspacePath}/${certificatesFile}`;
  const names = ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'PIP_CERT', 'REQUESTS_CA_BUNDLE', 'GIT_SSL_CAINFO'];
  return Object.fromEntries(names.map((name) => [name, file]));
}

function failed(command: string, { exitCode, killedBy, reason, output }: RunResult): FlotillaError {
  const why = killedBy === undefined ? `exit code ${exitCode}` : `stopped: ${reason ?? killedBy}`;
  return new FlotillaError(errors.setupFailed, { command, reason: why, exitCode, output: output.slice(-shownOutput) });
}
