import type { AgentOutcome } from '@flotilla/agent/agent-outcome';
import { nothingSpent, type Spent } from '@flotilla/contracts/allowance';
import type { ProjectName, RunId } from '@flotilla/contracts/ids';
import type { LogEntry } from '@flotilla/contracts/log-entry';
import type { RememberStepRequested } from '@flotilla/contracts/messages/remember-step-requested';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import type { StepAnswer, StepContext, StepWork } from '@flotilla/host/step-work';
import { chooseMemory, type ProposedMemory } from './domain/choose-memory.ts';
import { summariseRun } from './domain/summarise-run.ts';

export interface RunLog {
  /** The entries of a run that a summary is made of, in order. */
  read(runId: RunId): Promise<readonly LogEntry[]>;
}

/** Asks a model for the account of a run. */
export interface RunWriter {
  write(request: RememberStepRequested, log: readonly LogEntry[], context: StepContext): Promise<AgentOutcome>;
}

export interface MemoryInbox {
  /** Safe to repeat: a run proposes at most once. */
  propose(runId: RunId, project: ProjectName, memory: ProposedMemory): Promise<void>;
}

/** How often a model that fails is asked again before the summary is made without it. */
const patience = 3;

interface Account {
  readonly summary: string;
  readonly memory: ProposedMemory | undefined;
  readonly spent: Spent;
}

/** Writes a run's summary and proposes at most one memory. Where the model cannot, the log alone is enough for a summary. */
export class RememberRunHandler implements StepWork<RememberStepRequested> {
  readonly #log: RunLog;
  readonly #inbox: MemoryInbox;
  readonly #writer: RunWriter | undefined;

  constructor(log: RunLog, inbox: MemoryInbox, writer: RunWriter | undefined) {
    this.#log = log;
    this.#inbox = inbox;
    this.#writer = writer;
  }

  async work(request: RememberStepRequested, context: StepContext): Promise<StepAnswer> {
    const log = await this.#log.read(request.runId);
    const account = await this.#write(request, log, context);
    if (account === undefined) return { outcome: { kind: 'cancelled' }, spent: nothingSpent };
    const { summary, memory, spent } = account;
    if (memory !== undefined) await this.#inbox.propose(request.runId, request.project.name, memory);
    return {
      outcome: { kind: 'done', result: { verb: 'remember', summary, memories: memory === undefined ? 0 : 1 } },
      spent,
      entries: [
        { type: 'summary.written', payload: { summary } },
        ...(memory === undefined ? [] : [{ type: 'memory.proposed' as const, payload: memory }]),
      ],
    };
  }

  async #write(
    request: RememberStepRequested,
    log: readonly LogEntry[],
    context: StepContext,
  ): Promise<Account | undefined> {
    const plain = (spent: Spent): Account => ({ summary: summariseRun({ ...request, log }), memory: undefined, spent });
    if (this.#writer === undefined) return plain(nothingSpent);
    const end = await this.#ask(this.#writer, request, log, context);
    if (end === undefined) return plain(nothingSpent);
    if (end.kind === 'cancelled') return undefined;
    if (end.kind !== 'finished' || end.report.role !== 'scribe') return plain(end.spent);
    return { summary: end.report.summary, memory: chooseMemory(end.report.memories), spent: end.spent };
  }

  /** Undefined where the model failed for good; what is waited out or may yet succeed is thrown. */
  async #ask(
    writer: RunWriter,
    request: RememberStepRequested,
    log: readonly LogEntry[],
    context: StepContext,
  ): Promise<AgentOutcome | undefined> {
    try {
      return await writer.write(request, log, context);
    } catch (error) {
      if (context.signal.aborted || !(error instanceof FlotillaError) || error.remedy === 'wait') throw error;
      if (error.remedy === 'retry' && context.delivery < patience) throw error;
      return undefined;
    }
  }
}
