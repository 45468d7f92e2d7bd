import type { LanguageModelV4FinishReason, LanguageModelV4StreamPart, LanguageModelV4Usage } from '@ai-sdk/provider';
import type { ModelFinishReason, ModelPart, ModelToolArguments, ModelUsage } from './model.ts';

/** Our part for one of the SDK's that says something; undefined for all the others. */
export function readPart(part: LanguageModelV4StreamPart): ModelPart | undefined {
  if (part.type === 'text-delta' && part.delta !== '') return { kind: 'text', text: part.delta };
  if (part.type === 'reasoning-delta' && part.delta !== '') return { kind: 'reasoning', text: part.delta };
  if (part.type === 'tool-call')
    return { kind: 'toolCall', id: part.toolCallId, name: part.toolName, arguments: readArguments(part.input) };
  return undefined;
}

export function readUsage({ inputTokens, outputTokens }: LanguageModelV4Usage): ModelUsage {
  return {
    inputTokens: inputTokens.total ?? 0,
    outputTokens: outputTokens.total ?? 0,
    cachedInputTokens: inputTokens.cacheRead ?? 0,
    ...(inputTokens.cacheWrite === undefined ? {} : { cacheWriteTokens: inputTokens.cacheWrite }),
    ...(outputTokens.reasoning === undefined ? {} : { reasoningTokens: outputTokens.reasoning }),
  };
}

/** Undefined for an answer that did not end by itself: the stream was cut or failed. */
export function readFinishReason({ unified }: LanguageModelV4FinishReason): ModelFinishReason | undefined {
  switch (unified) {
    case 'stop':
    case 'length':
    case 'other':
      return unified;
    case 'tool-calls':
      return 'toolCalls';
    case 'content-filter':
      return 'refused';
    case 'error':
    case 'interrupted':
      return undefined;
  }
}

/** An empty text is a call without arguments. */
function readArguments(text: string): ModelToolArguments {
  if (text.trim() === '') return { kind: 'parsed', value: {} };
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value)
      ? { kind: 'parsed', value }
      : { kind: 'unreadable', text, reason: 'The arguments are not a JSON object' };
  } catch (error) {
    return { kind: 'unreadable', text, reason: error instanceof Error ? error.message : 'The arguments are not JSON' };
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
