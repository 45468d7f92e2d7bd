import type { ToolCallMade } from '@flotilla/contracts/events/journal-events';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import type { AgentSettings } from './agent-settings.ts';
import { dropReasoning, showHidden, truncateText } from './clean-text.ts';
import type { TurnEnd } from './find-trouble.ts';
import type { AgentPorts, ModelRequest, ModelToolCall } from './ports.ts';
import { resolveToolName } from './tool-names.ts';

export interface TurnAnswer {
  readonly text: string;
  readonly calls: readonly ToolCallMade[];
  readonly finish: TurnEnd;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly microdollars: number | null;
  readonly durationMs: number;
}

/**
 * One answer of the model, whole. An answer that the provider broke off is asked for again, a few times; whatever else
 * the model port throws goes up. Has no effect but tokens, so it is safe to repeat.
 */
export async function takeTurn(
  turn: number,
  request: ModelRequest,
  ports: Pick<AgentPorts, 'model' | 'live' | 'trace' | 'clock'>,
  toolIds: readonly string[],
  settings: AgentSettings,
): Promise<TurnAnswer> {
  const startedAtMs = ports.clock.now();
  for (let attempt = 1; ; attempt += 1) {
    const seen = { parts: 0 };
    try {
      const answer = await traceTurn(ports, (set) => readAnswer(turn, request, ports, settings, seen, set));
      return {
        ...answer,
        calls: answer.calls
          .slice(0, settings.callsPerTurn)
          .map((call, index) => toCallMade(call, `${turn}.${index}`, toolIds)),
        durationMs: Math.max(0, Math.round(ports.clock.now() - startedAtMs)),
      };
    } catch (error) {
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

interface RawAnswer extends Omit<TurnAnswer, 'calls' | 'durationMs'> {
  readonly calls: readonly ModelToolCall[];
}

async function readAnswer(
  turn: number,
  request: ModelRequest,
  { model, live }: Pick<AgentPorts, 'model' | 'live'>,
  { answerCharacters }: AgentSettings,
  seen: { parts: number },
  set: SetAttributes,
): Promise<RawAnswer> {
  const calls: ModelToolCall[] = [];
  let text = '';
  let thought = 0;
  for await (const part of model.stream(request)) {
    seen.parts += 1;
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
        return { text: keepText(text), calls, finish: part.reason, ...part.usage, microdollars: part.microdollars };
    }
    // Thinking is given more room than an answer: it is not kept.
    if (text.length > answerCharacters || thought > answerCharacters * thoughtRoom)
      return endless(text, thought, request);
  }
  throw new TypeError('the model port ended an answer without its finish');
}

const thoughtRoom = 4;
const keptCharacters = 16_000;
const charactersPerToken = 4;

function keepText(text: string): string {
  return truncateText(showHidden(dropReasoning(text)), keptCharacters);
}

/** Leaving the stream leaves its usage unknown: tokens are estimated, and the cost is not known. */
function endless(text: string, thought: number, { system, messages }: ModelRequest): RawAnswer {
  const asked = messages.reduce((sum, message) => sum + message.text.length, system.length);
  return {
    text: truncateText(showHidden(dropReasoning(text)), 2000),
    calls: [],
    finish: 'endless',
    inputTokens: Math.ceil(asked / charactersPerToken),
    outputTokens: Math.ceil((text.length + thought) / charactersPerToken),
    microdollars: null,
  };
}

/** The id is ours: a provider's own id is neither kept nor trusted to be unique. */
function toCallMade(
  { name, arguments: given }: ModelToolCall,
  callId: string,
  toolIds: readonly string[],
): ToolCallMade {
  const tool = resolveToolName(name, toolIds) ?? (showHidden(name.replaceAll('__', '.')).slice(0, 100) || 'unnamed');
  if (given.kind === 'unreadable')
    return { callId, tool, arguments: showHidden(given.text.slice(0, 4000)), malformed: given.reason.slice(0, 300) };
  if (!isStorable(given.value))
    return {
      callId,
      tool,
      arguments: showHidden(JSON.stringify(given.value)).slice(0, 4000),
      malformed: 'a text holds a NUL character or half of one',
    };
  return { callId, tool, arguments: given.value };
}

/** Databases keep no NUL and no half of a surrogate pair in a JSON text. */
function isStorable(value: unknown): boolean {
  if (typeof value === 'string') return !value.includes('\0') && value.isWellFormed();
  if (Array.isArray(value)) return value.every(isStorable);
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([key, item]) => isStorable(key) && isStorable(item));
}
