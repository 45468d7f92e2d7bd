import type { ToolCallMade } from '@flotilla/contracts/events/journal-events';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import type { AgentSettings } from './agent-settings.ts';
import { dropReasoning, showHidden, truncateText } from './clean-text.ts';
import type { TurnEnd } from './find-trouble.ts';
import type { AgentPorts, ModelPart, ModelRequest, ModelToolCall } from './ports.ts';
import { sizeOf } from './shorten-transcript.ts';
import { resolveToolName } from './tool-names.ts';

/** What an answer that broke off cost, as far as can be told. */
export interface BrokenAnswer {
  readonly code: string;
  readonly tokens: number;
  readonly microdollars: number | null;
  readonly durationMs: number;
}

export interface TurnAnswer {
  readonly text: string;
  readonly calls: readonly ToolCallMade[];
  /** How many further calls the model made, which are not taken. */
  readonly callsLeft: number;
  readonly finish: TurnEnd;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly microdollars: number | null;
  readonly durationMs: number;
}

/**
 * One answer of the model, whole. An answer that the provider broke off is asked for again, a few times; one that has no
 * end is cut; whatever else the model port throws goes up. Has no effect but tokens, so it is safe to repeat; those of answers that
 * are of no use are told to `onBroken`.
 */
export async function takeTurn(
  turn: number,
  request: ModelRequest,
  ports: Pick<AgentPorts, 'model' | 'live' | 'trace' | 'clock'>,
  toolIds: readonly string[],
  settings: AgentSettings,
  onBroken: (broken: BrokenAnswer) => Promise<void>,
): Promise<TurnAnswer> {
  for (let attempt = 1; ; attempt += 1) {
    const startedAtMs = ports.clock.now();
    const tookMs = () => Math.max(0, Math.round(ports.clock.now() - startedAtMs));
    const seen = { parts: 0, characters: 0 };
    try {
      const answer = await traceTurn(ports, (set) =>
        readAnswer(turn, request, ports, settings, seen, set).catch((error: unknown) =>
          cutTooLong(error, request, ports.model),
        ),
      );
      return { ...takeCalls(answer, turn, toolIds, settings), durationMs: tookMs() };
    } catch (error) {
      if (seen.parts > 0) {
        const { inputTokens, outputTokens, microdollars } = estimateCost(request, seen.characters, ports.model);
        const code = error instanceof FlotillaError ? error.code : 'aborted';
        await onBroken({ code, tokens: inputTokens + outputTokens, microdollars, durationMs: tookMs() });
      }
      const again =
        error instanceof FlotillaError && error.remedy === 'retry' && seen.parts > 0 && attempt < settings.turnAttempts;
      if (!again) throw error;
      ports.live?.restart(turn);
    }
  }
}

type SetAttributes = (attributes: AgentPorts['model']['spanAttributes']) => void;

function traceTurn<Value>(
  { model, trace }: Pick<AgentPorts, 'model' | 'trace'>,
  work: (set: SetAttributes) => Promise<Value>,
): Promise<Value> {
  const name = `chat ${String(model.spanAttributes['gen_ai.request.model'] ?? model.name)}`;
  return trace === undefined ? work(() => undefined) : trace.span(name, model.spanAttributes, work);
}

interface RawAnswer extends Omit<TurnAnswer, 'calls' | 'callsLeft' | 'durationMs'> {
  readonly calls: readonly ModelToolCall[];
}

async function readAnswer(
  turn: number,
  request: ModelRequest,
  { model, live }: Pick<AgentPorts, 'model' | 'live'>,
  { answerCharacters }: AgentSettings,
  seen: { parts: number; characters: number },
  set: SetAttributes,
): Promise<RawAnswer> {
  const calls: ModelToolCall[] = [];
  let text = '';
  let thought = 0;
  for await (const part of model.stream(request)) {
    seen.parts += 1;
    seen.characters += sizeOfPart(part);
    switch (part.kind) {
      case 'text':
        text += part.text;
        live?.text(turn, part.text);
        break;
      case 'reasoning':
        thought += part.text.length;
        break;
      case 'toolCall':
        calls.push({ id: part.id, name: part.name, arguments: part.arguments });
        break;
      case 'finish':
        set(part.spanAttributes);
        // An endpoint that counts nothing says 0, and an allowance of tokens would hold nobody.
        const usage = part.usage.inputTokens > 0 ? part.usage : estimateUsage(request, text.length + thought);
        return {
          text: keepText(text),
          calls,
          finish: part.reason,
          inputTokens: usage.inputTokens,
          outputTokens: usage.outputTokens,
          microdollars: part.microdollars,
        };
    }
    // Thinking is given more room than an answer: it is not kept.
    if (text.length > answerCharacters || thought > answerCharacters * thoughtRoom)
      return endless(text, thought, request, model);
  }
  throw new TypeError('the model port ended an answer without its finish');
}

const thoughtRoom = 4;
const keptCharacters = 16_000;
const charactersPerToken = 4;

function keepText(text: string): string {
  return truncateText(showHidden(dropReasoning(text)), keptCharacters);
}

/** Leaving the stream leaves its usage unknown: it is estimated. */
function endless(text: string, thought: number, request: ModelRequest, model: AgentPorts['model']): RawAnswer {
  return {
    text: truncateText(showHidden(dropReasoning(text)), 2000),
    calls: [],
    finish: 'endless',
    ...estimateCost(request, text.length + thought, model),
  };
}

/** Bytes in which a provider streams a token, near enough. */
const bytesPerToken = 100;

/** What the port would not read to its end, such as arguments of a call that never stop. */
function cutTooLong(error: unknown, request: ModelRequest, model: AgentPorts['model']): RawAnswer {
  if (!(error instanceof FlotillaError) || !error.is(errors.modelAnswerTooLong)) throw error;
  const limitBytes = Number(error.details['limitBytes'] ?? 0);
  return endless('', Math.ceil(limitBytes / bytesPerToken) * charactersPerToken, request, model);
}

function sizeOfPart(part: ModelPart): number {
  switch (part.kind) {
    case 'text':
    case 'reasoning':
      return part.text.length;
    case 'toolCall': {
      const { name, arguments: given } = part;
      if (given.kind === 'unreadable') return name.length + given.text.length;
      // What is nested too deeply cannot be written as text.
      const written = findUnkeepable(given.value, deepestArguments) === 'depth' ? '' : JSON.stringify(given.value);
      return name.length + written.length;
    }
    case 'finish':
      return 0;
  }
}

function estimateCost(request: ModelRequest, answerCharacters: number, { priceOf }: AgentPorts['model']) {
  const usage = estimateUsage(request, answerCharacters);
  return { ...usage, microdollars: priceOf?.(usage) ?? null };
}

function estimateUsage({ system, messages }: ModelRequest, answerCharacters: number) {
  const asked = messages.reduce((sum, message) => sum + sizeOf(message), system.length);
  return {
    inputTokens: Math.ceil(asked / charactersPerToken),
    outputTokens: Math.ceil(answerCharacters / charactersPerToken),
  };
}

function takeCalls(
  { calls: all, ...answer }: RawAnswer,
  turn: number,
  toolIds: readonly string[],
  settings: AgentSettings,
): Omit<TurnAnswer, 'durationMs'> {
  const given = answer.finish === 'length' ? all.map(explainCut) : all;
  const calls = given
    .slice(0, settings.callsPerTurn)
    .map((call, index) => toCallMade(call, `${turn}.${index}`, toolIds, settings));
  return { ...answer, calls, callsLeft: all.length - calls.length };
}

/** Arguments that stop in the middle are read as no JSON; why they do is what helps the model. */
function explainCut(call: ModelToolCall): ModelToolCall {
  const { arguments: given } = call;
  if (given.kind === 'parsed') return call;
  const reason =
    'your answer reached its length limit in the middle of them; write less in one call, in parts if need be';
  return { ...call, arguments: { ...given, reason } };
}

const keptArguments = 4000;
const deepestArguments = 100;

/** The id is ours: a provider's own id is neither kept nor trusted to be unique. */
function toCallMade(
  { name, arguments: given }: ModelToolCall,
  callId: string,
  toolIds: readonly string[],
  { argumentCharacters }: AgentSettings,
): ToolCallMade {
  const tool = resolveToolName(name, toolIds) ?? (showHidden(name.replaceAll('__', '.')).slice(0, 100) || 'unnamed');
  const malformed = (text: string, reason: string) => ({
    callId,
    tool,
    arguments: showHidden(text.slice(0, keptArguments)),
    malformed: showHidden(reason.slice(0, 300)),
  });
  if (given.kind === 'unreadable') return malformed(given.text, given.reason);
  const problem = findUnkeepable(given.value, deepestArguments);
  if (problem === 'depth') return malformed('', 'the arguments are nested too deeply');
  const text = JSON.stringify(given.value);
  if (problem === 'text') return malformed(text, 'a text holds a NUL character or half of one');
  if (text.length > argumentCharacters)
    return malformed(text, `the arguments are longer than ${argumentCharacters} characters`);
  return { callId, tool, arguments: given.value };
}

/** Databases keep no NUL and no half of a surrogate pair in a JSON text; what is nested without end ends whoever walks it. */
function findUnkeepable(value: unknown, depth: number): 'text' | 'depth' | undefined {
  if (typeof value === 'string') return value.includes('\0') || !value.isWellFormed() ? 'text' : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth === 0) return 'depth';
  const problems = Object.entries(value).flatMap(([key, item]) => [
    findUnkeepable(key, depth - 1),
    findUnkeepable(item, depth - 1),
  ]);
  return problems.find((problem) => problem === 'depth') ?? problems.find((problem) => problem !== undefined);
}
