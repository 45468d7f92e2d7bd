import { createHash } from 'node:crypto';
import { nothingSpent } from '@flotilla/contracts/allowance';
import type { NewLogEntry } from '@flotilla/contracts/log-entry';
import type { SetupStepRequested } from '@flotilla/contracts/messages/setup-step-requested';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import type { Mirror } from '@flotilla/git/mirror';
import { readFileAt, readTreeOf } from '@flotilla/git/read-tree';
import type { StepAnswer, StepContext, StepWork } from '@flotilla/host/step-work';
import type { DoorGrant } from '@flotilla/sandbox/door';
import type { SetupResult, SetupStore } from '@flotilla/sandbox/setup-store';
import { setupKey, type LockFile } from '@flotilla/sandbox/setup-key';
import type { Workplaces } from '@flotilla/workplace/workplaces';
import { DoorLog } from './door-log.ts';
import { OutputTail } from './domain/output-tail.ts';
import { chooseSetup, type ChosenSetup } from './domain/choose-setup.ts';
import { detectProjectSetup, type ImageTools } from './detect-project-setup.ts';

export interface SetupParts {
  readonly workplaces: Pick<Workplaces, 'prepare' | 'openCommits'>;
  readonly setups: Pick<SetupStore, 'ensure'>;
  readonly tools: ImageTools;
  /** Content id of the sandbox image. */
  readonly imageId: () => Promise<string>;
  /** Where the operator lets a setup go. */
  readonly door: Pick<DoorGrant, 'allow' | 'privateAllowed'>;
  /** What the commands get in their environment, such as the package registries. */
  readonly environment: Readonly<Record<string, string>>;
  /** Certificates that the commands trust, in PEM. Default: those of the image. */
  readonly certificates?: string;
}

type Run = Extract<ChosenSetup, { readonly kind: 'run' }>;

const lockFileLimitBytes = 64 * 1024 * 1024;

/** Installs a project's dependencies on the base commit, once for the same image, commands and lock files, and before any model. */
export class SetUpProjectHandler implements StepWork<SetupStepRequested> {
  readonly #parts: SetupParts;

  constructor(parts: SetupParts) {
    this.#parts = parts;
  }

  async work(request: SetupStepRequested, context: StepContext): Promise<StepAnswer> {
    const { repository, base, skip, project } = request;
    if (skip) return answer(null, 'skipped');
    const mirror = await context.span('git.ensure', {}, () =>
      this.#parts.workplaces.openCommits({ repository, commits: [base] }, context.signal),
    );
    const detected = await detectProjectSetup(mirror, base.commit, () => this.#parts.tools.list(request, context));
    const chosen = chooseSetup(skip, project.setup, detected);
    switch (chosen.kind) {
      case 'skipped':
      case 'none':
        return answer(null, chosen.kind);
      case 'unsupported':
        throw new FlotillaError(errors.setupUnsupported, { reason: chosen.reason });
      case 'run':
        return this.#run(request, chosen, mirror, context);
    }
  }

  async #run(request: SetupStepRequested, chosen: Run, mirror: Mirror, context: StepContext): Promise<StepAnswer> {
    const image = await this.#parts.imageId();
    const lockFiles = await hashFiles(mirror, request, chosen.dependsOn);
    const key = setupKey({ image, commands: chosen.commands, lockFiles });
    const output = new OutputTail();
    const requests = new DoorLog(context);
    try {
      const result = await context.span('setup.ensure', { 'flotilla.setup.key': key }, () =>
        this.#ensure(key, chosen.commands, request, requests, output, context),
      );
      return answer(key, result.kind === 'reused' ? 'reused' : 'ran', chosen.commands, result, output.text());
    } catch (error) {
      const failed = describeFailure(error);
      if (failed === undefined) throw error;
      return failed;
    } finally {
      await requests.flush();
    }
  }

  #ensure(
    key: string,
    commands: readonly string[],
    request: SetupStepRequested,
    requests: DoorLog,
    output: OutputTail,
    context: StepContext,
  ): Promise<SetupResult> {
    const { workplaces, setups, door, environment, certificates } = this.#parts;
    const { repository, base } = request;
    return setups.ensure({
      key,
      commands,
      environment,
      ...(certificates === undefined ? {} : { certificates }),
      signal: context.signal,
      onOutput: (text) => {
        output.append(text);
        context.live(text);
      },
      openSlot: async () => {
        const grant = { ...door, onRequest: requests.note };
        const wanted = { step: request, repository, commits: [base], lay: base.commit, setupKey: null, door: grant };
        return (await workplaces.prepare(wanted, context)).slot;
      },
    });
  }
}

async function hashFiles(
  mirror: Mirror,
  { base }: SetupStepRequested,
  dependsOn: Run['dependsOn'],
): Promise<readonly LockFile[]> {
  if (dependsOn === 'tree') return [{ path: '.', sha256: await readTreeOf(mirror, base.commit) }];
  const hashed: LockFile[] = [];
  for (const path of dependsOn) {
    const bytes = await readFileAt(mirror, { commit: base.commit, path, limitBytes: lockFileLimitBytes });
    hashed.push({
      path,
      sha256: createHash('sha256')
        .update(bytes ?? '')
        .digest('hex'),
    });
  }
  return hashed;
}

function answer(
  key: string | null,
  how: 'ran' | 'reused' | 'none' | 'skipped',
  commands: readonly string[] = [],
  result?: SetupResult,
  output = '',
): StepAnswer {
  const entry: NewLogEntry = {
    type: 'setup.finished',
    payload: { key, how, commands: [...commands], durationMs: Math.round(result?.durationMs ?? 0), output },
  };
  return {
    outcome: { kind: 'done', result: { verb: 'setup', key, reused: how === 'reused' } },
    spent: nothingSpent,
    entries: [entry],
  };
}

/** The project's own failure is an outcome, told with the end of what its commands printed. */
function describeFailure(error: unknown): StepAnswer | undefined {
  if (!(error instanceof FlotillaError) || !error.is(errors.setupFailed)) return undefined;
  const output = typeof error.details['output'] === 'string' ? error.details['output'].trimEnd() : '';
  const message = output === '' ? error.message : `${error.message}\n${output}`;
  return { outcome: { kind: 'failed', code: error.code, message, advice: error.advice }, spent: nothingSpent };
}
