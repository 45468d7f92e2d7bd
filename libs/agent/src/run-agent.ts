import type { Allowance, Spent } from '@flotilla/contracts/allowance';
import type { Grants, Mode } from '@flotilla/contracts/grants';
import { CommitId, TreeId } from '@flotilla/contracts/ids';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import type { AgentOutcome } from './agent-outcome.ts';
import { defaultAgentSettings, type AgentSettings } from './agent-settings.ts';
import type { AgentTask } from './agent-task.ts';
import { askModel, describeBroken, describeTurn, type TranscriptRoom } from './ask-model.ts';
import { describeInterrupted } from './call-entries.ts';
import { decideNext, type LoopEnd, type NextMove, type Situation, type Verification } from './decide-next.ts';
import { toModelTool } from './describe-tool.ts';
import type { Tool } from './define-tool.ts';
import { describeEnd, readOutcome } from './end-of-loop.ts';
import { findTestCommands } from './find-test-commands.ts';
import { JournalView, notKeptCode, testRunId } from './journal-facts.ts';
import { offerTools } from './offer-tools.ts';
import type { AgentPorts, JournalEntry, StepSignals } from './ports.ts';
import { writeSystemPrompt } from './prompts/system-prompt.ts';
import { writeTask } from './prompts/task-prompt.ts';
import { noteRestored } from './note-restored.ts';
import { decideFinish, refuseHandIn } from './refuse-finish.ts';
import { renderTranscript } from './render-transcript.ts';
import { runCall, type CallScene } from './run-call.ts';
import { takeTurn, type BrokenAnswer, type TurnAnswer } from './take-turn.ts';
import { toolsOf } from './tool-catalogue.ts';

export interface AgentInput {
  readonly task: AgentTask;
  readonly grants: Grants;
  readonly mode: Mode;
  readonly allowance: Allowance;
  /** Default: off. */
  readonly verification?: Verification;
  /** Commands that check the project, as it declares them; default: those that its files tell of. */
  readonly checks?: readonly string[];
  /** A word that nobody outside can know, the same in every process that works on this step and attempt. */
  readonly nonce: string;
  /** Where the journal already has entries: whether the workspace was laid anew from the last checkpoint. Default: restored. */
  readonly workspace?: 'restored' | 'kept';
  /** The step is no longer ours: everything ends at once and its reason is thrown. */
  readonly signal: AbortSignal;
  readonly settings?: Partial<AgentSettings>;
}

/**
 * Works on one step until it ends, one decision after the other, each from the journal alone: another process that is given
 * the same journal goes on where this one stopped, repeats no call and spends what is left. Returns the same outcome again
 * for a journal that has an end. Throws what a port threw, when it is not for the model; the journal is then good to go on from.
 */
export async function runAgent(input: AgentInput, ports: AgentPorts): Promise<AgentOutcome> {
  const loop = await openLoop(input, ports);
  const outcome = readOutcome(loop.view.facts, input.task.role);
  if (outcome !== undefined) return outcome;
  if ((input.workspace ?? 'restored') === 'restored') await loop.append(noteRestored(loop.view.facts, loop.tools));
  for (;;) {
    input.signal.throwIfAborted();
    const signals = await ports.signals.read();
    const situation = describeSituation(loop, signals);
    const move = decideNext(situation);
    const end = await carryOut(move, situation, signals, loop);
    if (end !== undefined) return end;
  }
}

interface Loop {
  readonly input: AgentInput;
  readonly ports: AgentPorts;
  readonly view: JournalView;
  readonly tools: readonly Tool[];
  readonly settings: AgentSettings;
  readonly verification: Verification;
  readonly startedAtMs: number;
  readonly secondsBefore: number;
  readonly system: string;
  readonly task: string;
  readonly append: (entries: readonly JournalEntry[]) => Promise<void>;
  readonly room: TranscriptRoom;
}

async function openLoop(input: AgentInput, ports: AgentPorts): Promise<Loop> {
  const view = new JournalView();
  view.add(await ports.journal.read());
  const tools = toolsOf(input.task.role);
  const settings = { ...defaultAgentSettings, ...input.settings };
  return {
    input,
    ports,
    view,
    tools,
    settings,
    room: { limitCharacters: settings.transcriptCharacters },
    verification: input.verification ?? 'off',
    startedAtMs: ports.clock.now(),
    secondsBefore: view.facts.spent.seconds,
    system: writeSystemPrompt(input.task.role, offerTools(tools, [input.grants], input.mode), input.nonce),
    task: writeTask(input.task, input.checks ?? [], input.nonce),
    append: async (entries) => {
      if (entries.length === 0) return;
      await ports.journal.append(entries);
      view.add(entries);
    },
  };
}

function describeSituation(
  { input, ports, view, settings, verification, startedAtMs, secondsBefore }: Loop,
  signals: StepSignals,
): Situation {
  const { facts } = view;
  const seconds = Math.max(facts.spent.seconds, secondsBefore + (ports.clock.now() - startedAtMs) / 1000);
  return {
    facts,
    allowance: input.allowance,
    spent: { ...facts.spent, seconds },
    cancelled: signals.cancelled || ports.signals.cancelled.aborted,
    steering: signals.steering,
    settings,
    checkpoints: ports.checkpoint !== undefined,
    verification,
  };
}

async function carryOut(
  move: NextMove,
  situation: Situation,
  signals: StepSignals,
  loop: Loop,
): Promise<AgentOutcome | undefined> {
  switch (move.kind) {
    case 'askModel':
      return takeNextTurn(move.turn, situation, signals, loop);
    case 'runCall':
      await stopOnCancel(loop, (signal) => runCall(move.call, sceneOf(situation, signals, loop, signal)));
      return undefined;
    case 'tellInterrupted':
      await loop.append([describeInterrupted(move.call, loop.tools)]);
      return undefined;
    case 'checkpoint':
      await keepWorkspace(move.turn, loop);
      return undefined;
    case 'nudge':
      await loop.append([{ type: 'agent.nudge', payload: move.nudge }]);
      return undefined;
    case 'end':
      return endLoop(move.end, situation.spent, loop);
  }
}

async function takeNextTurn(
  turn: number,
  situation: Situation,
  signals: StepSignals,
  loop: Loop,
): Promise<AgentOutcome | undefined> {
  const { input, ports, view, tools, settings, system, task } = loop;
  const offered = offerTools(tools, layersOf(loop, signals), input.mode);
  const toolIds = tools.map(({ id }) => id);
  // Whose step is no longer ours writes nothing more to its journal.
  const noteBroken = async (broken: BrokenAnswer): Promise<void> => {
    if (!input.signal.aborted) await loop.append([describeBroken(turn, ports.model.name, broken)]);
  };
  const answer = await stopOnCancel(loop, (signal) =>
    askModel(
      {
        render: (limitCharacters) => renderTranscript(task, view.facts, input.nonce, limitCharacters),
        request: { system, tools: offered.map(toModelTool), signal },
        take: (request) => takeTurn(turn, request, ports, toolIds, settings, noteBroken),
      },
      loop.room,
    ),
  );
  if (answer === undefined) return undefined;
  if (answer instanceof FlotillaError) return endFailed(answer, situation.spent, loop);
  await loop.append([describeTurn(turn, ports.model.name, answer), ...noteCallsLeft(answer)]);
  return undefined;
}

function noteCallsLeft({ calls, callsLeft }: TurnAnswer): readonly JournalEntry[] {
  if (callsLeft === 0) return [];
  const text = `Your answer made ${calls.length + callsLeft} calls. Only the first ${calls.length} were taken; the others were not run.`;
  return [{ type: 'agent.nudge', payload: { code: 'CALLS_NOT_TAKEN', text } }];
}

/** Undefined when a person's cancelling ended it: the loop then sees the signal and ends in order. */
async function stopOnCancel<Value>(
  { input, ports }: Loop,
  work: (signal: AbortSignal) => Promise<Value>,
): Promise<Value | undefined> {
  try {
    return await work(AbortSignal.any([input.signal, ports.signals.cancelled]));
  } catch (error) {
    if (input.signal.aborted) throw input.signal.reason;
    if (ports.signals.cancelled.aborted) return undefined;
    throw error;
  }
}

function layersOf({ input }: Loop, signals: StepSignals): readonly Grants[] {
  return signals.grants === undefined ? [input.grants] : [input.grants, signals.grants];
}

function sceneOf(
  { facts, allowance, spent }: Situation,
  signals: StepSignals,
  loop: Loop,
  signal: AbortSignal,
): CallScene {
  const { input, ports, tools, settings, verification, append } = loop;
  const layers = layersOf(loop, signals);
  const offered = offerTools(tools, layers, input.mode);
  const checks = input.checks ?? [];
  return {
    ports,
    tools,
    offered,
    layers,
    mode: input.mode,
    checks,
    timeLeftMs: Math.max(1, Math.floor((allowance.seconds - spent.seconds) * 1000)),
    resultCharacters: settings.resultCharacters,
    signal,
    append,
    refuseFinish: async () => {
      const canTest = offered.some(({ id }) => id === testRunId);
      const asks = verification !== 'off' && facts.modified && !facts.tested && canTest;
      const commands = asks ? await findTestCommands(checks, ports.workspace) : [];
      const untested = decideFinish({
        facts,
        verification,
        commands: commands.map(({ command }) => command),
        settings,
      });
      return untested ?? refuseHandIn(ports.handIn, facts, settings);
    },
  };
}

async function keepWorkspace(turn: number, { ports, append }: Loop): Promise<void> {
  const kept = await ports.checkpoint?.(turn);
  if (kept === undefined) return;
  if ('refused' in kept) {
    const text = `The work cannot be kept safe as it is, and a crash would lose what you changed since it could. ${kept.refused}`;
    return append([{ type: 'agent.nudge', payload: { code: notKeptCode, text } }]);
  }
  const payload = {
    turn,
    commit: kept.commit === null ? null : CommitId.parse(kept.commit),
    tree: kept.tree === null ? null : TreeId.parse(kept.tree),
    bundle: kept.bundle,
  };
  await append([{ type: 'agent.checkpoint', payload }]);
}

async function endLoop(end: LoopEnd, spent: Spent, loop: Loop): Promise<AgentOutcome> {
  if (end.kind === 'failed') return endFailed(new FlotillaError(end.failure), spent, loop);
  return writeEnd(describeEnd(end), [], spent, loop);
}

/** The words of the failure go before the end, so that whoever reads the journal again tells the same. */
function endFailed(failure: FlotillaError, spent: Spent, loop: Loop): Promise<AgentOutcome> {
  const words: JournalEntry = { type: 'agent.nudge', payload: { code: failure.code, text: failure.message } };
  return writeEnd(`failed:${failure.code}`, [words], spent, loop);
}

async function writeEnd(
  outcome: string,
  before: readonly JournalEntry[],
  spent: Spent,
  { input, view, append }: Loop,
): Promise<AgentOutcome> {
  const { modified, tested } = view.facts;
  await append([...before, { type: 'agent.finished', payload: { outcome, verified: !modified || tested, spent } }]);
  const read = readOutcome(view.facts, input.task.role);
  if (read === undefined) throw new TypeError(`the end ${outcome} cannot be read back`);
  return read;
}
